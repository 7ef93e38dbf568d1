import { expect, test } from "bun:test";
import { checksumOf, type Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { registerDevice, type TestDevice } from "../support/mobile.ts";
import { describeWeb } from "./support/browser.ts";

/** A time by the server's clock. Changes that are acknowledged from now on are not before it. */
async function now(client: Client): Promise<string> {
  const made = await client.post("/api/files/folders", { name: `at-${Bun.nanoseconds()}` });
  expectStatus(made, 201);
  expectStatus(await client.delete(`/api/files/folders/${made.string("data.id")}`), 200);
  return made.string("data.createdAt");
}

describeWeb("restoring past states", (web) => {
  test("shows the files of a moment, previews a restore, and restores a folder", async () => {
    const account = await web.account();
    const { client } = account;
    const folder = { folder: "/Work" };
    const note = await client.storedId("as it was", { name: "note.txt", fields: folder });
    const gone = await client.storedId("lost", { name: "gone.txt", fields: folder });
    const at = await now(client);
    expectStatus(await client.putContent(note, "overwritten"), 200);
    expectStatus(await client.post("/api/files/trash", { fileIds: [gone] }), 200);
    await client.storedId("new", { name: "new.txt", fields: folder });
    const page = await web.open({ as: account, path: `/history?at=${encodeURIComponent(at)}` });
    await page.getByRole("heading", { level: 1, name: "History" }).waitFor();
    await page.getByRole("button", { name: "Work", exact: true }).click();
    const past = page.getByRole("region", { name: /^Work as of/ });
    await past
      .getByRole("row", { name: /gone\.txt/ })
      .getByText("Deleted since then")
      .waitFor();
    expect(await past.getByRole("row", { name: /new\.txt/ }).count()).toBe(0);
    await web.lookAt(page, "history-restore");
    await past.getByRole("button", { name: "Restore Work" }).click();
    const dialog = page.getByRole("dialog", { name: "Restore Work" });
    await dialog.getByText("1 file will be restored as a new version").waitFor();
    await dialog.getByText("1 deleted item will be restored").waitFor();
    await dialog.getByText("1 newer item will stay").waitFor();
    await web.lookAt(page, "history-plan");
    expect((await client.names("/Work")).toSorted()).toEqual(["new.txt", "note.txt"]);
    await dialog.getByRole("checkbox", { name: "Move newer items to trash" }).check();
    await dialog.getByText("1 newer item will move to trash").waitFor();
    await dialog.getByRole("button", { name: "Restore" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect((await client.names("/Work")).toSorted()).toEqual(["gone.txt", "note.txt"]);
    expect((await client.get(`/api/files/${note}/download`)).text).toBe("as it was");
  });

  // The dialog said that nothing had changed, and then that newer items will stay.
  test("a preview with only newer items does not say that nothing changed", async () => {
    const account = await web.account();
    await account.client.folderId("Work");
    const at = await now(account.client);
    await account.client.storedId("new", { name: "new.txt", fields: { folder: "/Work" } });
    const page = await web.open({ as: account, path: `/history?at=${encodeURIComponent(at)}` });
    await page.getByRole("button", { name: "Restore Work" }).click();
    const dialog = page.getByRole("dialog", { name: "Restore Work" });
    await dialog.getByText("1 newer item will stay").waitFor();
    await dialog.getByText("There is nothing to restore.", { exact: true }).waitFor();
    expect(await dialog.getByText("Nothing has changed").count()).toBe(0);
  });

  test("a dialog that is closed while it runs does not affect the next one, and its result is a message", async () => {
    const account = await web.account();
    await account.client.folderId("One");
    await account.client.folderId("Two");
    const at = await now(account.client);
    const page = await web.open({ as: account, path: `/history?at=${encodeURIComponent(at)}` });
    const none = ["place", "undelete", "aside", "remove", "skipped", "new"].map((kind) => [kind, 0]);
    const counts = { content: 1, ...Object.fromEntries(none) };
    const change = { id: "file_1", type: "file", name: "note.txt", folder: "/", change: "content" };
    const response = { success: true, data: { counts, changes: [change], skipped: [], new: [], hasMore: false } };
    const rejection = { success: false, error: { code: "VALIDATION_ERROR", message: "Not now.", details: {} } };
    const [one, two] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route("**/api/files/restore", async (route) => {
      const { folder, dryRun } = Object(route.request().postDataJSON());
      if (dryRun !== true) await (folder === "/One" ? one : two).promise;
      if (dryRun === true || folder === "/One") await route.fulfill({ json: response });
      else await route.fulfill({ status: 400, json: rejection });
    });
    /** Starts to restore a folder, and closes the dialog. */
    const beginAndLeave = async (folder: string) => {
      await page.getByRole("button", { name: `Restore ${folder}` }).click();
      const dialog = page.getByRole("dialog", { name: `Restore ${folder}` });
      const requested = page.waitForRequest((request) => request.postData()?.includes('"partial"') === true);
      await dialog.getByRole("button", { name: "Restore" }).click();
      await requested;
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await beginAndLeave("One");
    await page.getByRole("button", { name: "Restore Two" }).click();
    const next = page.getByRole("dialog", { name: "Restore Two" });
    await next.getByText("1 file will be restored as a new version").waitFor();
    one.resolve();
    await page.getByText("1 change made.").waitFor();
    await next.getByText("1 file will be restored as a new version").waitFor();

    await next.getByRole("button", { name: "Cancel" }).click();
    await beginAndLeave("Two");
    two.resolve();
    await page.getByText("Not now.").waitFor();
  });

  test("restores single files, and is used by keyboard", async () => {
    const account = await web.account();
    const { client } = account;
    const id = await client.storedId("first", { name: "letter.txt" });
    const at = await now(client);
    expectStatus(await client.putContent(id, "second"), 200);
    const page = await web.open({ as: account, path: `/history?at=${encodeURIComponent(at)}` });
    await page.getByRole("button", { name: "Restore letter.txt" }).press("Enter");
    await page.getByText("letter.txt restored to its earlier version.").waitFor();
    expect((await client.get(`/api/files/${id}/download`)).text).toBe("first");
    await page.getByRole("slider", { name: /Go back to/ }).focus();
    await page.keyboard.press("Home");
    await page.waitForURL((url) => {
      const requestedAt = url.searchParams.get("at");
      return requestedAt !== null && Date.parse(requestedAt) < Date.parse(at) - 29 * 86_400_000;
    });
    await page.getByText(/This folder was empty at that time|Couldn't load this/).waitFor();
  });
});

describeWeb(
  "changes by devices",
  (web) => {
    const send = async (device: TestDevice, localChanges: unknown[]) => {
      expectStatus(await device.client.post("/api/mobile/sync/files", { localChanges }), 200);
    };
    const remove = (fileId: string) => ({ action: "delete", localId: `l-${fileId}`, fileId });

    test("are undone in a browser: a stolen phone", async () => {
      const account = await web.account();
      const { client } = account;
      const device = await registerDevice(web.server(), account);
      const id = await client.storedId("dear", { name: "dear.txt" });
      await now(client);
      await send(device, [remove(id)]);
      expect(await client.names()).toEqual([]);
      const page = await web.open({ as: account, path: "/history?tab=rewind" });
      await page.getByLabel("Undo changes since").waitFor();
      await web.lookAt(page, "history-rewind");
      await page.getByRole("button", { name: "Preview changes" }).click();
      const dialog = page.getByRole("dialog", { name: /^Undo changes by/ });
      await dialog.getByText("Deleted by the device, will be restored").waitFor();
      await web.lookAt(page, "history-rewind-plan");
      await dialog.getByRole("button", { name: "Undo changes" }).click();
      await page.getByText("1 change undone.").waitFor();
      expect(await client.names()).toEqual(["dear.txt"]);
    });

    test("are undone for the device in the preview, even if another is selected since", async () => {
      const account = await web.account();
      const { client } = account;
      const first = await registerDevice(web.server(), account);
      const other = await registerDevice(web.server(), account);
      const id = await client.storedId("dear", { name: "dear.txt" });
      await now(client);
      await send(first, [remove(id)]);
      const page = await web.open({ as: account, path: `/history?tab=rewind&device=${first.deviceId}` });
      await page.getByLabel("Undo changes since").waitFor();
      const gate = Promise.withResolvers<void>();
      await page.route("**/rewind*", async (route) => {
        await gate.promise;
        await route.continue();
      });
      await page.getByRole("button", { name: "Preview changes" }).click();
      await page.getByRole("combobox", { name: "Device" }).selectOption(other.deviceId);
      await page.waitForURL((url) => url.searchParams.get("device") === other.deviceId);
      gate.resolve();
      const dialog = page.getByRole("dialog", { name: /^Undo changes by/ });
      await dialog.getByText("Deleted by the device, will be restored").waitFor();
      await dialog.getByRole("button", { name: "Undo changes" }).click();
      await page.getByText("1 change undone.").waitFor();
      expect(await client.names()).toEqual(["dear.txt"]);
    });

    /** An account whose phone tries to delete all of eight files. */
    const robbed = async () => {
      const account = await web.account();
      const device = await registerDevice(web.server(), account);
      const ids: string[] = [];
      for (let at = 0; at < 8; at++) {
        ids.push(await account.client.storedId(`content ${at}`, { name: `f${at}.txt` }));
      }
      await send(device, ids.map(remove));
      return account;
    };

    test("beyond a limit wait, and are rejected here", async () => {
      const account = await robbed();
      const namesBefore = await account.client.names();
      expect(namesBefore.length).toBeGreaterThan(0);
      const page = await web.open({ as: account, path: "/history?tab=holds" });
      const list = page.getByRole("list", { name: "Changes waiting for approval" });
      await list.getByRole("button", { name: "Reject" }).waitFor();
      await web.lookAt(page, "history-holds");
      await list.getByRole("button", { name: "Reject" }).click();
      await page.getByText("Nothing to approve").waitFor();
      expect(await account.client.names()).toEqual(namesBefore);
    });

    test("beyond a limit are applied after a confirmation", async () => {
      const account = await robbed();
      const page = await web.open({ as: account, path: "/history?tab=holds", size: "phone" });
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Approve" }).click();
      await page.getByText("Nothing to approve").waitFor();
      expect(await account.client.names()).toEqual([]);
    });

    test("to a file that others changed too wait for a decision", async () => {
      const account = await web.account();
      const { client } = account;
      const device = await registerDevice(web.server(), account);
      const ids: string[] = [];
      for (const name of ["one.txt", "two.txt"]) {
        const id = await client.storedId("the beginning", { name });
        expectStatus(await client.putContent(id, "what the server has"), 200);
        ids.push(id);
      }
      const update = { action: "update", folder: "/", size: 3, checksum: checksumOf("new") };
      const base = { baseChecksum: checksumOf("the beginning") };
      await send(
        device,
        ids.map((fileId) => ({ ...update, ...base, localId: fileId, fileId })),
      );
      const page = await web.open({ as: account, path: "/history" });
      await page.getByRole("tab", { name: "Conflicts" }).click();
      const list = page.getByRole("list", { name: "Conflicts" });
      const one = list.getByRole("listitem").filter({ hasText: "one.txt was changed in both places" });
      const two = list.getByRole("listitem").filter({ hasText: "two.txt was changed in both places" });
      await one.getByRole("button", { name: "Keep the server's version" }).waitFor();
      await web.lookAt(page, "history-conflicts");
      await one.getByRole("button", { name: "Keep the server's version" }).click();
      await one.waitFor({ state: "detached" });
      await two.getByRole("button", { name: "Keep the device's version" }).click();
      await two.getByText("Waiting for the device to upload its version").waitFor();
      expect((await client.get(`/api/files/${ids[0]}/download`)).text).toBe("what the server has");
      expect((await client.get("/api/users/conflicts")).at("data.conflicts")).toHaveLength(1);
    });
  },
  { env: { LARDER_MASS_CHANGE_FILES: "5", LARDER_MASS_CHANGE_PERCENT: "25" } },
);

describeWeb("pages about devices", (web) => {
  test("are in the navigation only once there is a device, and open by their address before", async () => {
    const account = await web.account();
    const page = await web.open({ as: account, path: "/history" });
    await page.getByRole("tab", { name: "Restore files" }).waitFor();
    await page.waitForLoadState("networkidle");
    expect(await page.getByRole("tab").allTextContents()).toEqual(["Restore files"]);
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/history?tab=conflicts`);
    await page.getByRole("tab", { name: "Conflicts", selected: true }).waitFor();
    await page.goto(`${origin}/settings/profile`);
    const sections = page.getByRole("navigation", { name: "Settings" });
    await sections.getByRole("link", { name: "Notifications" }).waitFor();
    await page.waitForLoadState("networkidle");
    expect(await sections.getByRole("link", { name: "Devices", exact: true }).count()).toBe(0);
    await page.goto(`${origin}/settings/devices`);
    await page.getByText("No devices yet").waitFor();
    await registerDevice(web.server(), account, "phone");
    await page.goto(`${origin}/settings/profile`);
    await sections.getByRole("link", { name: "Devices", exact: true }).waitFor();
    await page.goto(`${origin}/history`);
    await page.getByRole("tab", { name: "Undo device changes" }).waitFor();
  });
});

describeWeb("the tabs of History", (web) => {
  test("show the active one on phones, also when others are offered later", async () => {
    const page = await web.open({ as: await web.account(), path: "/trash", size: "phone" });
    const loaded = Promise.withResolvers<void>();
    const device = { id: "dev_1", name: "Pixel", lastActiveAt: "2026-01-01T00:00:00.000Z" };
    // Tabs are offered for what there is.
    const lists = { devices: { devices: [device] }, holds: { holds: [{ id: "hold_1" }] } };
    for (const [name, data] of Object.entries(lists)) {
      await page.route(`**/api/users/${name}*`, async (route) => {
        await loaded.promise;
        await route.fulfill({ json: { success: true, data } });
      });
    }
    await page.goto(new URL("/history?tab=conflicts", page.url()).href);
    const tabs = page.getByRole("tablist");
    const tab = (name: string) => tabs.getByRole("tab", { name });
    const isShown = async (name: string) =>
      tab(name).evaluate((element) => {
        const [inner, outer] = [element, element.parentElement].map((each) => each?.getBoundingClientRect());
        if (inner === undefined || outer === undefined) return false;
        return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
      });
    await tab("Conflicts").waitFor();
    expect(await tabs.getByRole("tab").count()).toBe(2);
    loaded.resolve();
    await tab("Pending approval").waitFor();
    // It moved out of sight, to the end of a longer row.
    await eventually("the active tab is shown", () => isShown("Conflicts"));
    expect(await isShown("Restore files")).toBe(false);
    await tab("Restore files").click();
    await eventually("the chosen tab is shown", () => isShown("Restore files"));
    await page.goBack();
    await eventually("the previous tab is shown", () => isShown("Conflicts"));
  });
});
