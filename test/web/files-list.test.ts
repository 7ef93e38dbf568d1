// Folders as lists: sorting, navigation, and restoring the scroll position.
import { expect, test } from "bun:test";
import { eventually, expectFocus, names, row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";

describeWeb("lists of folders", (web) => {
  test("are sorted by their headers and by the menu, folders first", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    await account.client.stored("1", { name: "b.txt" });
    await account.client.stored("333", { name: "a.txt" });
    await account.client.stored("22", { name: "c.txt", fields: { tags: "blue, green, red", isPublic: "true" } });
    const page = await web.open({ as: account });
    await row(page, "c.txt").getByRole("img", { name: "Shared by link" }).waitFor();
    await web.lookAt(page, "files-list");
    const header = page.getByRole("columnheader", { name: "Name" });
    expect(await header.getAttribute("aria-sort")).toBe("ascending");
    expect(await names(page)).toEqual(["Box", "a.txt", "b.txt", "c.txt"]);
    await header.getByRole("button").click();
    await eventually(() => names(page), ["Box", "c.txt", "b.txt", "a.txt"]);
    expect(await header.getAttribute("aria-sort")).toBe("descending");
    await page.getByRole("columnheader", { name: "Size" }).getByRole("button").click();
    await eventually(() => names(page), ["Box", "b.txt", "c.txt", "a.txt"]);
    await page.getByRole("button", { name: "View" }).click();
    await web.lookAt(page, "files-view-menu");
    await page.getByRole("menuitemcheckbox", { name: "Descending" }).click();
    await eventually(() => names(page), ["Box", "a.txt", "c.txt", "b.txt"]);
    await page.reload();
    await eventually(() => names(page), ["Box", "a.txt", "c.txt", "b.txt"]);
  });

  test("have addresses for any name; back and forward navigate between them", async () => {
    const account = await web.account();
    const strange = ["100% #1?", "a+b&c", "Übung ✓", "50%25", "..."];
    let folder = "/";
    for (const name of strange) {
      await account.client.folderId(name, folder);
      folder = folder === "/" ? `/${name}` : `${folder}/${name}`;
    }
    await account.client.stored("deep", { name: "deep.txt", fields: { folder } });
    const page = await web.open({ as: account });
    for (const name of strange) await row(page, name).dblclick();
    await row(page, "deep.txt").waitFor();
    await expectFocus(page, "deep.txt");
    await page.reload();
    await row(page, "deep.txt").waitFor();
    await web.lookAt(page, "files-deep");
    await page.goBack();
    await row(page, "...").waitFor();
    await page.goForward();
    await row(page, "deep.txt").waitFor();
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "a+b&c" }).click();
    await row(page, "Übung ✓").waitFor();
    await page.waitForFunction(() => document.title.includes("a+b&c"));
  });

  test("are restored to their scroll position when going back", async () => {
    const account = await web.account();
    await account.client.folderId("many");
    for (let portion = 0; portion < 3; portion += 1) {
      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          account.client.folderId(`sub ${String(portion * 40 + index).padStart(3, "0")}`, "/many"),
        ),
      );
    }
    const page = await web.open({ as: account, path: "/files/many" });
    await row(page, "sub 000").click();
    await page.keyboard.press("End");
    await expectFocus(page, "sub 119");
    await page.keyboard.press("Enter");
    await page.getByText("This folder is empty").waitFor();
    await page.goBack();
    await expectFocus(page, "sub 119");
    expect(await row(page, "sub 119").isVisible()).toBe(true);
  });

  test("show placeholders while they are loading", async () => {
    const account = await web.account();
    await account.client.folderId("Box");
    await account.client.stored("1", { name: "a.txt", fields: { folder: "/Box" } });
    const release = Promise.withResolvers<void>();
    const page = await web.open({ as: account, path: "/trash" });
    await page.route("**/api/files?*", async (route) => {
      await release.promise;
      await route.continue();
    });
    await page.goto("/files/Box");
    await page.locator("main [aria-busy=true]").waitFor();
    expect(await page.getByRole("navigation", { name: "Breadcrumb" }).count()).toBe(1);
    release.resolve();
    await row(page, "a.txt").waitFor();
    expect(await page.getByRole("navigation", { name: "Breadcrumb" }).count()).toBe(1);
  });

  test("show a message if the folder does not exist", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/files/nowhere" });
    await page.getByText("Folder not found").waitFor();
    await web.lookAt(page, "files-gone");
    await page.getByRole("link", { name: "Go to your files" }).click();
    await page.getByText("This folder is empty").waitFor();
  });

  test("show changes by another tab or device without losing the selection", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.stored(name, { name });
    const page = await web.open({ as: account });
    await row(page, "c.txt").click();
    const other = await web.openTab(page, "/files");
    await row(other, "a.txt").click();
    await other.keyboard.press("Delete");
    await other.getByText("1 item moved to trash.").waitFor();
    await row(page, "a.txt").waitFor({ state: "detached" });
    expect(await row(page, "c.txt").getAttribute("aria-selected")).toBe("true");

    // Another device: seen at the latest when the page becomes visible again.
    await account.client.stored("new", { name: "aa.txt" });
    await other.bringToFront();
    await page.bringToFront();
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
    await row(page, "aa.txt").waitFor();
    expect(await row(page, "c.txt").getAttribute("aria-selected")).toBe("true");
  });
});
