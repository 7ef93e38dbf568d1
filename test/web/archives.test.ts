import { expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { hostileZips, makeZip } from "../support/zip-files.ts";
import { describeWeb } from "./support/browser.ts";
import { untilFocused, untilMenuFocused } from "./support/focus.ts";
import { openPreview, overlay } from "./support/preview.ts";

const TRIP = makeZip([
  { name: "Trip/", mode: 0x41ed },
  { name: "Trip/notes.txt", content: "Take water.", isDeflated: true },
  { name: "Trip/maps/route.gpx", content: "<gpx/>" },
  { name: "packing list.md", content: "# Packing\n", isDeflated: true },
  { name: "photos/lake.jpg", content: Buffer.alloc(48_000, 7) },
  { name: "photos/summit.jpg", content: Buffer.alloc(61_000, 9) },
]);

describeWeb("archives", (web) => {
  test("are shown as folders, and files in them opened, without extracting", async () => {
    const account = await web.account();
    await account.client.storedId(TRIP, { name: "trip.zip", type: "application/zip" });
    const page = await web.open({ as: account });
    await openPreview(page, "trip.zip");
    await overlay(page).getByText("packing list.md").waitFor();
    await web.lookAt(page, "archive");
    await overlay(page).getByRole("button", { name: "Trip" }).click();
    await overlay(page).getByRole("button", { name: "maps" }).waitFor();
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      overlay(page).getByRole("link", { name: "Open notes.txt" }).click(),
    ]);
    await opened.getByText("Take water.").waitFor();
    await opened.close();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      overlay(page).getByRole("link", { name: "Download notes.txt" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("notes.txt");
    await overlay(page).getByRole("button", { name: "maps" }).click();
    await overlay(page).getByText("route.gpx").waitFor();
    await overlay(page).getByRole("button", { name: "Up", exact: true }).click();
    await overlay(page).getByRole("button", { name: "Up", exact: true }).click();
    await overlay(page).getByText("Root folder").waitFor();
    expect(await account.client.names()).toEqual(["trip.zip"]);
  });

  test("are extracted from the menu into a new folder, which opens", async () => {
    const account = await web.account();
    await account.client.storedId(TRIP, { name: "trip.zip", type: "application/zip" });
    const page = await web.open({ as: account });
    await page.getByRole("main").getByText("trip.zip", { exact: true }).click({ button: "right" });
    await untilMenuFocused(page);
    await page.getByRole("menuitem", { name: "Extract into a new folder" }).click();
    await page.getByText("Extracted to trip.").waitFor();
    await page.getByRole("button", { name: "Open folder" }).click();
    await page.getByRole("main").getByText("packing list.md", { exact: true }).waitFor();
    expect(await account.client.names("/trip")).toEqual(["photos", "Trip", "packing list.md"]);
  });

  test("that are dangerous are refused in words, and nothing is extracted", async () => {
    const account = await web.account();
    const [, zip] = hostileZips()["parent folder"] ?? ["", Buffer.alloc(0)];
    await account.client.storedId(zip, { name: "evil.zip", type: "application/zip" });
    const page = await web.open({ as: account, size: "phone", context: { hasTouch: true } });
    await page.getByRole("main").getByText("evil.zip", { exact: true }).tap();
    await overlay(page).getByText("fine.txt").waitFor();
    await overlay(page).getByRole("button", { name: "Extract", exact: true }).tap();
    await page
      .getByText(/"\.\.\/out\.txt" in this archive has a name that is not allowed\. Nothing was extracted/)
      .waitFor();
    expect(await account.client.names()).toEqual(["evil.zip"]);
  });

  test("are extracted into a folder that the person chooses", async () => {
    const account = await web.account();
    await account.client.storedId(TRIP, { name: "trip.zip", type: "application/zip", fields: { folder: "/in" } });
    await account.client.folderId("travel");
    const page = await web.open({ as: account, path: "/files/in" });
    await page.getByRole("main").getByText("trip.zip", { exact: true }).click({ button: "right" });
    await untilMenuFocused(page);
    await page.getByRole("menuitem", { name: "Extract to…" }).click();
    const dialog = page.getByRole("dialog", { name: "Extract to" });
    await untilFocused(page, dialog);
    await dialog.getByRole("treeitem", { name: "in", selected: true }).waitFor();
    await dialog.getByRole("treeitem", { name: "travel" }).click();
    await web.lookAt(page, "archive-destination");
    await dialog.getByRole("button", { name: "Extract here" }).click();
    await page.getByText("Extracted to trip.").waitFor();
    await page.getByRole("button", { name: "Open folder" }).click();
    await page.getByRole("main").getByText("packing list.md", { exact: true }).waitFor();
    expect(await account.client.names("/travel")).toEqual(["trip"]);
    expect(await account.client.names("/in")).toEqual(["trip.zip"]);
  });

  test("are extracted into a received folder on the phone, which opens", async () => {
    const [owner, person] = [await web.account("Olivia Owner"), await web.account()];
    const team = await owner.client.folderId("Team");
    await owner.client.folderId("2026", "/Team");
    await shareWith(owner.client, team, person, { permissions: "write" });
    await shareWith(owner.client, await owner.client.folderId("Viewed"), person);
    await person.client.storedId(TRIP, { name: "trip.zip", type: "application/zip" });
    const page = await web.open({ as: person, size: "phone", context: { hasTouch: true } });
    await page.getByRole("main").getByRole("button", { name: "More actions for trip.zip" }).tap();
    await untilMenuFocused(page);
    await page.getByRole("menuitem", { name: "Extract to…" }).tap();
    const dialog = page.getByRole("dialog", { name: "Extract to" });
    await untilFocused(page, dialog);
    const roots = dialog.getByLabel("Extract into");
    expect(await roots.getByRole("option").allTextContents()).toEqual(["Files", "Team (shared by Olivia Owner)"]);
    await roots.selectOption({ label: "Team (shared by Olivia Owner)" });
    await dialog.getByRole("treeitem", { name: "2026" }).tap();
    await web.lookAt(page, "archive-destination-phone");
    await dialog.getByRole("button", { name: "Extract here" }).tap();
    await page.getByText("Extracted to trip.").waitFor();
    expect(await owner.client.names("/Team/2026")).toEqual(["trip"]);
    expect(await person.client.names()).toEqual(["trip.zip"]);
    await page.getByRole("button", { name: "Open folder" }).tap();
    await page.getByRole("main").getByText("packing list.md", { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/shared/with-me");
  });

  test("and documents of office programs have icons of their kind, also without a media type", async () => {
    const account = await web.account();
    const zip = makeZip([{ name: "content.xml", content: "<a/>" }]);
    const kinds = {
      "a.docx": [zip, "document"],
      "b.odt": [zip, "document"],
      "c.pdf": ["%PDF-1.7", "document"],
      "d.xlsx": [zip, "spreadsheet"],
      "e.ods": [zip, "spreadsheet"],
      "f.pptx": [zip, "presentation"],
      "g.odp": [zip, "presentation"],
      "h.zip": [zip, "archive"],
      "i.tar.gz": [Bun.gzipSync("content"), "archive"],
      "j.7z": [Buffer.from("377abcaf271c0004", "hex"), "archive"],
    } as const;
    for (const [name, [content]] of Object.entries(kinds)) {
      await account.client.storedId(content, { name, type: "application/octet-stream" });
    }
    const page = await web.open({ as: account });
    for (const [name, [, icon]] of Object.entries(kinds)) {
      const row = page.getByRole("main").getByRole("row").filter({ hasText: name });
      await row.locator(`[data-icon="${icon}"]`).first().waitFor();
    }
    await web.lookAt(page, "icons");
  });

  test("that others share for viewing are extracted into one's own files", async () => {
    const [owner, reader] = [await web.account(), await web.account()];
    const id = await owner.client.storedId(TRIP, {
      name: "trip.zip",
      type: "application/zip",
      fields: { folder: "/in" },
    });
    const folder = (await owner.client.get("/api/files")).string("data.files.0.id");
    expect(id).toStartWith("file_");
    await shareWith(owner.client, folder, reader, { permissions: "read" });
    const page = await web.open({ as: reader, path: "/shared/with-me" });
    await page.getByRole("main").getByText("in", { exact: true }).first().dblclick();
    await openPreview(page, "trip.zip");
    await overlay(page).getByRole("button", { name: "Extract", exact: true }).click();
    await page.getByText("Extracted to trip.").waitFor();
    expect(await reader.client.names()).toEqual(["trip"]);
    expect(await owner.client.names("/in")).toEqual(["trip.zip"]);
  });
});
