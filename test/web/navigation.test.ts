// Overlays are part of the browser's history, as pages are.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { jpegPhoto } from "../support/images.ts";
import { eventually, expectFocus, row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, closeMenu, untilFocused } from "./support/focus.ts";
import { openPreview, overlay, showing } from "./support/preview.ts";
import { undo } from "./support/undo.ts";

describeWeb("Back, reload, and links", (web) => {
  test("Back closes the preview, forward opens it again, and a reload keeps it", async () => {
    // Back left the folder, because the preview was not part of the address.
    const { account, page } = await folderOfTexts("phone");
    await page.getByRole("main").getByText("b.txt", { exact: true }).tap();
    await showing(page, "b.txt", "2 of 3");
    expect(new URL(page.url()).searchParams.get("view")).toStartWith("file_");
    await untilFocused(page);
    await page.keyboard.press("ArrowRight");
    await showing(page, "c.txt", "3 of 3");
    const [, , last = ""] = (await account.client.get("/api/files?folder=/Box")).strings("data.files", "id");
    await page.waitForURL((url) => url.searchParams.get("view") === last);
    await page.reload();
    await showing(page, "c.txt", "3 of 3");
    await page.goBack();
    await overlay(page).waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).toBe("/files/Box");
    await page.goForward();
    await showing(page, "c.txt", "3 of 3");
    await page.goBack();
    await overlay(page).waitFor({ state: "detached" });
    await page.goBack();
    await page.waitForURL(/\/files$/);
  });

  test("opening and closing leaves no history entries behind", async () => {
    const { page } = await folderOfTexts("desktop");
    for (const close of ["Escape", "button", "Escape", "button"]) {
      await openPreview(page, "a.txt");
      if (close === "Escape") await page.keyboard.press("Escape");
      else await overlay(page).getByRole("button", { name: "Close preview" }).click();
      await overlay(page).waitFor({ state: "detached" });
      await page.waitForURL(/\/files\/Box$/);
      await expectFocus(page, "a.txt");
    }
    for (let round = 0; round < 2; round++) {
      await page.keyboard.press("?");
      await closeByKey(page, page.getByRole("dialog", { name: "Keyboard shortcuts" }));
    }
    await page.goBack();
    await page.waitForURL(/\/files$/);
  });

  test("a step right before closing does not open the preview again", async () => {
    // The address follows a step after a moment. On a slow machine, that was after Back, and before the page showed it.
    const { page } = await folderOfTexts("desktop");
    await openPreview(page, "a.txt");
    await untilFocused(page);
    await page.evaluate(() => {
      window.addEventListener("popstate", () => {
        for (const end = performance.now() + 400; performance.now() < end; );
      });
    });
    await page.keyboard.press("ArrowRight");
    await closeByKey(page, overlay(page));
    await page.waitForURL(/\/files\/Box$/);
    await row(page, "b.txt").click();
    expect(await overlay(page).count()).toBe(0);
    expect(page.url()).toEndWith("/files/Box");
  });

  test("a link opens one file of a late page, and says if there is none", async () => {
    const account = await web.account();
    const folder = "Much & more 100%";
    await account.client.folderId(folder);
    await account.client.folderId("Inner", `/${folder}`);
    const ids: string[] = [];
    for (let at = 100; at < 350; at++)
      ids.push(await account.client.storedId("x", { name: `f${at}.txt`, fields: { folder: `/${folder}` } }));
    const path = `/files/${encodeURIComponent(folder)}`;
    const page = await web.open({ as: account, path: `${path}?view=${ids[220] ?? ""}` });
    await showing(page, "f320.txt", "221 of 250");
    await web.lookAt(page, "preview-text");
    await untilFocused(page);
    await page.keyboard.press("ArrowLeft");
    await showing(page, "f319.txt", "220 of 250");
    await page.keyboard.press("Home");
    await showing(page, "f100.txt", "1 of 250");
    await page.keyboard.press("End");
    await showing(page, "f349.txt", "250 of 250");
    await closeByKey(page, overlay(page));
    await expectFocus(page, "f349.txt");
    expect(new URL(page.url()).search).toBe("");

    const stranger = await web.account();
    const strange = await stranger.client.storedId("secret", { name: "secret.txt" });
    const other = await web.openTab(page, `${path}?view=${strange}`);
    const message = other.getByRole("dialog", { name: "File not found" });
    await message.waitFor();
    await web.lookAt(other, "preview-missing");
    await message.getByRole("button", { name: "Close" }).last().click();
    await message.waitFor({ state: "detached" });
    await row(other, "f100.txt").waitFor();
  });

  test("Back closes the drawer, and a link in it takes its place", async () => {
    const { page } = await folderOfTexts("phone");
    await page.getByRole("button", { name: "Menu", exact: true }).tap();
    const drawer = page.getByRole("dialog", { name: "Larder" });
    await drawer.waitFor();
    await page.reload();
    await drawer.waitFor();
    await page.goBack();
    await drawer.waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).toBe("/files/Box");
    await page.goForward();
    await drawer.getByRole("link", { name: "Trash" }).tap();
    await page.getByText("Trash is empty").waitFor();
    await drawer.waitFor({ state: "detached" });
    await page.goBack();
    await row(page, "a.txt").waitFor();
    expect(await drawer.count()).toBe(0);
  });

  test("Back closes the details on phones, and dialogs, which a reload keeps", async () => {
    const { page } = await folderOfTexts("phone");
    await row(page, "a.txt").getByRole("button", { name: "More actions for a.txt" }).tap();
    await page.getByRole("menuitem", { name: "Details" }).tap();
    const details = page.getByRole("dialog", { name: "a.txt" });
    await details.waitFor();
    await page.reload();
    await details.getByRole("tab", { name: "Info" }).waitFor();
    await page.goBack();
    await details.waitFor({ state: "detached" });

    await row(page, "b.txt").getByRole("button", { name: "More actions for b.txt" }).tap();
    await page.getByRole("menuitem", { name: "Share" }).tap();
    const share = page.getByRole("dialog", { name: /b\.txt/ });
    await share.waitFor();
    await page.reload();
    await share.waitFor();
    await page.goBack();
    await share.waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).toBe("/files/Box");
    await page.goBack();
    await page.waitForURL(/\/files$/);
  });

  test("a dialog without an address closes on Back, and a reload leaves its entry", async () => {
    const { account, page } = await folderOfTexts("desktop");
    const id = await account.client.storedId("old", { name: "old.txt" });
    await account.client.post("/api/files/trash", { fileIds: [id] });
    await page.getByRole("link", { name: "Trash", exact: true }).click();
    const empty = page.getByRole("button", { name: "Empty trash" });
    const question = page.getByRole("alertdialog", { name: "Empty trash?" });
    await empty.click();
    await question.waitFor();
    await page.goBack();
    await question.waitFor({ state: "detached" });
    expect(new URL(page.url()).pathname).toBe("/trash");
    await empty.click();
    await question.waitFor();
    await page.reload();
    await empty.waitFor();
    expect(await question.count()).toBe(0);
    await eventually(() => page.evaluate(() => window.history.state?.overlays ?? []), []);
    await page.goBack();
    await page.waitForURL(/\/files\/Box$/);
  });

  test("the preview changes a file: rename, and Del goes to the next one and can be undone", async () => {
    const { account, page } = await folderOfTexts("desktop");
    await openPreview(page, "a.txt");
    await page.keyboard.press("F2");
    const rename = page.getByRole("dialog", { name: "Rename" });
    await web.lookAt(page, "preview-rename");
    await rename.getByLabel("New name").fill("aa.txt");
    await page.keyboard.press("Enter");
    await rename.waitFor({ state: "detached" });
    await showing(page, "aa.txt", "1 of 3");
    await page.keyboard.press("Delete");
    await showing(page, "b.txt", "1 of 2");
    await undo(page, "1 item moved to trash.");
    await showing(page, "b.txt", "2 of 3");
    await page.locator('[role="dialog"]').first().focus();
    await page.keyboard.press("End");
    await showing(page, "c.txt", "3 of 3");
    await page.keyboard.press("Delete");
    await overlay(page).waitFor({ state: "detached" });
    await eventually(() => account.client.names("/Box"), ["aa.txt", "b.txt"]);
  });

  test("one photo costs a large thumbnail and no original, until it is zoomed in", async () => {
    const account = await web.account();
    await account.client.upload(await jpegPhoto(2400, 1600), { name: "view.jpg" });
    const page = await web.open({ as: account });
    await page.waitForFunction(() => document.querySelector<HTMLImageElement>("[role=row] img")?.naturalWidth === 128);
    const requested: string[] = [];
    page.on("request", (request) => {
      if (/\/download/.test(request.url())) requested.push(new URL(request.url()).search);
    });
    await page.evaluate(() => {
      const shown: string[] = [];
      Object.assign(window, { shown });
      new MutationObserver(() => {
        const picture = document.querySelector<HTMLImageElement>('[role="dialog"] img[alt="view.jpg"]');
        const thumbnail = new URL(picture?.src ?? "none:").searchParams.get("thumbnail");
        if (thumbnail !== null && shown.at(-1) !== thumbnail) shown.push(thumbnail);
      }).observe(document.body, { childList: true, subtree: true, attributes: true });
    });
    await openPreview(page, "view.jpg");
    await shownWidth(page, 1600);
    // The small picture of the list is in memory already.
    expect(await page.evaluate(() => Reflect.get(window, "shown"))).toEqual(["small", "large"]);
    expect(requested.map((query) => new URLSearchParams(query).get("thumbnail"))).toEqual(["large"]);
    await untilFocused(page);
    for (let step = 0; step < 3; step++) await page.keyboard.press("+");
    await shownWidth(page, 2400);
    const [id = ""] = (await account.client.get("/api/files")).strings("data.files", "id");
    expect((await account.client.get(`/api/files/${id}`)).number("data.downloadCount")).toBe(0);
  });

  test("a menu by finger is for its own row, and selects nothing", async () => {
    // The selection stayed after the menu had closed, so the next tap selected.
    const { account, page } = await folderOfTexts("phone");
    await row(page, "a.txt").getByRole("button", { name: "More actions for a.txt" }).tap();
    const open = page.getByRole("menuitem", { name: "Open" });
    await open.waitFor();
    expect(await page.getByText("F2", { exact: true }).isVisible()).toBe(false);
    await closeMenu(page);
    expect(await page.getByRole("toolbar").count()).toBe(0);
    await row(page, "b.txt").tap();
    await showing(page, "b.txt", "2 of 3");
    await page.goBack();
    await overlay(page).waitFor({ state: "detached" });
    await row(page, "c.txt").getByRole("button", { name: "More actions for c.txt" }).tap();
    await page.getByRole("menuitem", { name: "Move to trash" }).tap();
    await row(page, "c.txt").waitFor({ state: "detached" });
    expect(await account.client.names("/Box")).toEqual(["a.txt", "b.txt"]);
  });

  async function folderOfTexts(size: "phone" | "desktop") {
    const account = await web.account();
    await account.client.folderId("Box");
    for (const name of ["a.txt", "b.txt", "c.txt"])
      await account.client.stored(`this is ${name}`, { name, fields: { folder: "/Box" } });
    const page = await web.open({ as: account, size });
    if (size === "phone") await row(page, "Box").tap();
    else await row(page, "Box").dblclick();
    await row(page, "a.txt").waitFor();
    return { account, page };
  }
});

/** Waits until the picture in the preview has this many pixels across. */
async function shownWidth(page: Page, width: number): Promise<void> {
  await page.waitForFunction(
    (expected) =>
      document.querySelector<HTMLImageElement>('[role="dialog"] img[alt]:not([alt=""])')?.naturalWidth === expected,
    width,
  );
}

describeWeb("a page that loads late", (web) => {
  test("leaves the focus in the field in which the person types already", async () => {
    const page = await web.open({ as: await web.account(), path: "/files", isFirstVisit: true });
    const script = Promise.withResolvers<void>();
    await page.route("**/assets/**/trash-page-*.js", async (route) => {
      await script.promise;
      await route.continue();
    });
    await page.getByRole("link", { name: "Trash", exact: true }).click();
    const field = page.getByRole("combobox", { name: "Search files and folders" });
    await field.click();
    await page.keyboard.type("gar");
    script.resolve();
    await page.getByRole("heading", { level: 1, name: "Trash" }).waitFor();
    await page.keyboard.type("den");
    expect(await field.inputValue()).toBe("garden");
    await page.keyboard.press("Enter");
    await page
      .getByRole("heading", { level: 1, name: /garden|Search/ })
      .and(page.locator(":focus"))
      .waitFor();
  });
});
