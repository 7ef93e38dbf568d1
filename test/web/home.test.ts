import { expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { expectStatus } from "../support/expect.ts";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, closeMenu, untilFocused } from "./support/focus.ts";

describeWeb("the home page", (web) => {
  test("opens first, and shows a new person what to do", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/" });
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.getByText("Add your first files").waitFor();
    await web.lookAt(page, "home-empty");
    await page.getByRole("link", { name: "Connect a phone or computer" }).click();
    await page.getByRole("heading", { name: "Connect devices" }).waitFor();
    await page.keyboard.press("Shift+H");
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    const chosen = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Upload files" }).click();
    await (await chosen).setFiles({ name: "first.txt", mimeType: "text/plain", buffer: Buffer.from("first") });
    await row(page, "first.txt").getByText("Added").waitFor();
  });

  test("shows what others share, as long as a person has no own files", async () => {
    const [owner, person] = [await web.account("Ann"), await web.account()];
    const team = await owner.client.folderId("Team");
    await owner.client.storedId("a", { name: "in.txt", fields: { folder: "/Team" } });
    const plan = await owner.client.storedId("b", { name: "plan.txt" });
    await shareWith(owner.client, team, person);
    await shareWith(owner.client, plan, person);
    const album = (await owner.client.post("/api/albums", { name: "Summer", fileIds: [plan] })).string("data.id");
    expectStatus(await owner.client.post(`/api/albums/${album}/shares`, { user: person.email }), 201);
    const page = await web.open({ as: person, path: "/home" });
    const shared = page.getByRole("region", { name: "Shared with me" });
    await shared.getByRole("link", { name: "Team" }).getByText("From Ann").waitFor();
    await page.getByText("Add your first files").waitFor();
    await web.lookAt(page, "home-shared");
    await shared.getByRole("link", { name: "Team" }).click();
    await page.getByRole("heading", { level: 1, name: "Team" }).waitFor();
    await row(page, "in.txt").waitFor();
    await page.goBack();
    await shared.getByRole("link", { name: "Summer" }).click();
    await page.getByRole("heading", { level: 1, name: "Summer" }).waitFor();
    await page.goBack();
    await shared.getByRole("link", { name: "All shared items" }).click();
    await page.getByRole("heading", { level: 1, name: "Shared with me" }).waitFor();
    await page.goBack();
    await shared.getByRole("link", { name: "plan.txt" }).click();
    const preview = page.getByRole("dialog", { name: "plan.txt" });
    await untilFocused(page, preview);
    await closeByKey(page, preview);
    // Files of others that were opened are not own ones.
    expectStatus(await person.client.post(`/api/files/${plan}/opened`, {}), 200);
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await row(page, "plan.txt").getByText("Opened").waitFor();
    await shared.getByRole("link", { name: "Team" }).waitFor();
    await web.lookAt(page, "home-shared-opened");
    await person.client.storedId("c", { name: "own.txt" });
    await page.reload();
    await row(page, "own.txt").waitFor();
    expect(await shared.count()).toBe(0);
  });

  test("asks for what others share only without own files", async () => {
    const person = await web.account();
    await person.client.storedId("c", { name: "own.txt" });
    const page = await web.open({ as: person, path: "/manifest.webmanifest" });
    const paths: string[] = [];
    page.on("request", (request) => paths.push(new URL(request.url()).pathname));
    await page.goto(new URL("/home", page.url()).href);
    await row(page, "own.txt").waitFor();
    await page.getByRole("button", { name: "New", exact: true }).waitFor();
    expect(paths).toContain("/api/files/recent");
    expect(paths).not.toContain("/api/shares/received");
  });

  test("lists what was added, changed, and opened, newest first", async () => {
    const account = await web.account();
    const owner = await web.account();
    await account.client.folderId("Letters");
    const report = await account.client.storedId("a", { name: "report.txt", fields: { folder: "/Letters" } });
    // Tags are one more column. The column of what was done last must stay next to it.
    const note = await account.client.storedId("b", { name: "note.txt", fields: { tags: "print" } });
    await account.client.storedId("c", { name: "other.txt" });
    await account.client.putContent(note, "new");
    await account.client.post("/api/favorites", {
      ids: [report, await account.client.folderId("Box")],
      favorite: true,
    });
    await shareWith(owner.client, await owner.client.storedId("d", { name: "plan.txt" }), account);
    const page = await web.open({ as: account, path: "/home", hasOwnClock: true });
    await row(page, "note.txt").getByText("Edited").waitFor();
    await row(page, "report.txt").getByText("/Letters").waitFor();
    const names = () =>
      page
        .getByRole("grid")
        .getByRole("row")
        .evaluateAll((rows) => rows.map((one) => one.textContent));
    expect((await names())[1]).toContain("note.txt");
    await web.lookAt(page, "home");

    // Opened by key, it becomes the first one when the preview closes.
    await row(page, "report.txt").click();
    await page.keyboard.press("Enter");
    const preview = page.getByRole("dialog", { name: "report.txt" });
    await untilFocused(page, preview);
    const sent = page.waitForResponse((response) => response.url().endsWith("/opened"));
    await page.clock.fastForward(1_100);
    await closeByKey(page, preview);
    expect((await sent).status()).toBe(200);
    await row(page, "report.txt").getByText("Opened").waitFor();
    await page.waitForFunction(() =>
      document.querySelectorAll('[role="grid"] [role="row"]')[1]?.textContent?.includes("report.txt"),
    );
    await row(page, "report.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Go to folder" }).click();
    await page.getByRole("heading", { level: 1, name: "Letters" }).waitFor();
  });

  test("leads to favorites", async () => {
    const account = await web.account();
    const box = await account.client.folderId("Box");
    const note = await account.client.storedId("b", { name: "note.txt", fields: { folder: "/Box" } });
    await account.client.post("/api/favorites", { ids: [box, note], favorite: true });
    const page = await web.open({ as: account, path: "/home" });
    const favorites = page.getByRole("region", { name: "Favorites" });
    await favorites.getByRole("link", { name: "note.txt" }).click();
    const preview = page.getByRole("dialog", { name: "note.txt" });
    await untilFocused(page, preview);
    await closeByKey(page, preview);
    await favorites.getByRole("link", { name: "Box" }).click();
    await page.getByRole("heading", { level: 1, name: "Box" }).waitFor();
    await page.goBack();
    await favorites.getByRole("link", { name: "All favorites" }).click();
    await page.getByRole("heading", { level: 1, name: "Favorites" }).waitFor();
  });

  test("leads to pinned folders, which take dropped files", async () => {
    const account = await web.account();
    const box = await account.client.folderId("Box");
    await account.client.storedId("a", { name: "a.txt" });
    expectStatus(await account.client.put(`/api/pins/${box}`, {}), 200);
    const page = await web.open({ as: account, path: "/home" });
    const pinned = page.getByRole("region", { name: "Pinned items" }).getByRole("link", { name: "Box" });
    await row(page, "a.txt").dragTo(pinned);
    await page.getByText("1 item moved to Box.").waitFor();
    await pinned.click();
    await page.getByRole("heading", { level: 1, name: "Box" }).waitFor();
    await row(page, "a.txt").waitFor();
  });

  test("offers for received files what their share allows", async () => {
    const [owner, person] = [await web.account(), await web.account()];
    const team = await owner.client.folderId("Team");
    const inFolder = await owner.client.storedId("a", { name: "in.txt", fields: { folder: "/Team" } });
    const alone = await owner.client.storedId("b", { name: "alone.txt" });
    await shareWith(owner.client, team, person, { permissions: "write" });
    await shareWith(owner.client, alone, person, { permissions: "write" });
    for (const id of [inFolder, alone]) expectStatus(await person.client.post(`/api/files/${id}/opened`, {}), 200);
    const page = await web.open({ as: person, path: "/home" });
    const offered = async (name: string) => {
      await row(page, name).click({ button: "right" });
      await page.getByRole("menuitem", { name: "Edit tags…" }).waitFor();
      const labels = await page.getByRole("menuitem").allTextContents();
      return ["Edit", "Rename", "Cut", "Share", "Move to trash"].filter((label) =>
        labels.some((one) => one.startsWith(label) && !one.startsWith("Edit tags")),
      );
    };
    expect(await offered("alone.txt")).toEqual(["Edit"]);
    await closeMenu(page);
    expect(await offered("in.txt")).toEqual(["Edit", "Rename", "Cut", "Move to trash"]);
    await page.getByRole("menuitem", { name: "Move to trash" }).click();
    await row(page, "in.txt").waitFor({ state: "detached" });
    expect(await owner.client.names("/Team")).toEqual([]);
    await row(page, "alone.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Go to folder" }).click();
    await page.getByRole("heading", { level: 1, name: "Shared with me" }).waitFor();
    await page.goBack();
    // The preview offers nothing that the server would reject.
    await row(page, "alone.txt").dblclick();
    const preview = page.getByRole("dialog", { name: "alone.txt" });
    await preview.getByRole("link", { name: "Download alone.txt" }).waitFor();
    expect(await preview.getByRole("button", { name: "Share" }).count()).toBe(0);
  });

  test("shows received files with the actions of their share, also on phones", async () => {
    const [owner, reader] = [await web.account(), await web.account()];
    const file = await owner.client.storedId("d", { name: "plan.txt" });
    await shareWith(owner.client, file, reader);
    await reader.client.post(`/api/files/${file}/opened`, {});
    const page = await web.open({ as: reader, path: "/home", size: "phone" });
    await row(page, "plan.txt").getByText("Opened").waitFor();
    await web.lookAt(page, "home-phone");
    await row(page, "plan.txt").getByRole("button", { name: "More actions for plan.txt" }).tap();
    await page.getByRole("menuitem", { name: "Download" }).waitFor();
    expect(await page.getByRole("menuitem", { name: "Move to trash" }).count()).toBe(0);
    expect(await page.getByRole("menuitem", { name: "Rename" }).count()).toBe(0);
  });

  test("can be replaced by another start page", async () => {
    const page = await web.open({ as: await web.account(), path: "/settings/appearance" });
    await page.getByRole("radio", { name: "Files" }).click();
    await page.goto(new URL("/", page.url()).href);
    await page.waitForURL(/\/files$/);
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  });
});
