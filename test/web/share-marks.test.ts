import { expect, test } from "bun:test";
import { eventually, expectStatus } from "../support/expect.ts";
import { jpegPhoto } from "../support/images.ts";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";

describeWeb("marks on shared items", (web) => {
  test("appear when something is shared, in lists, tiles and photos, and go when that ends", async () => {
    const account = await web.account();
    const { client } = account;
    const friend = await web.account();
    const folder = await client.folderId("Trip");
    const file = await client.storedId(await jpegPhoto(60, 40), { name: "beach.jpg" });
    await client.storedId("x", { name: "inside.txt", fields: { folder: "/Trip" } });
    const shared = (path: string, body: object) => client.post(`/api/files/${path}/shares`, body);
    expectStatus(await shared(`folders/${folder}`, { permissions: "upload", expiresIn: "1d" }), 201);
    expectStatus(await shared(`folders/${folder}`, { user: friend.email }), 201);
    const page = await web.open({ as: account, path: "/files" });
    await row(page, "Trip")
      .getByRole("img", { name: /^Shared with people, Drop box, ends / })
      .waitFor();
    expect(
      await row(page, "beach.jpg")
        .getByRole("img", { name: /Shared/ })
        .count(),
    ).toBe(0);
    await row(page, "beach.jpg").getByRole("button", { name: "More actions for beach.jpg" }).click();
    await page.getByRole("menuitem", { name: "Share", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Create link" }).click();
    const links = () => client.get(`/api/files/${file}/shares`);
    await eventually("the link exists", async () => (await links()).text.includes('"token"'));
    await closeByKey(page, page.getByRole("dialog"));
    const mark = row(page, "beach.jpg").getByRole("img", { name: "Shared by link" });
    await mark.waitFor();
    await web.lookAt(page, "share-marks");
    // The row stays selected, and the toolbar is that of the selection.
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Tiles" }).click();
    await page.getByRole("gridcell").getByRole("img", { name: "Shared by link" }).waitFor();
    await web.lookAt(page, "share-marks-tiles");
    await page.getByRole("button", { name: "List" }).click();
    expectStatus(await client.delete(`/api/shares/${(await links()).string("data.shares.0.id")}`), 200);
    await page.reload();
    await row(page, "beach.jpg").waitFor();
    await mark.waitFor({ state: "detached" });
    // An entry of a shared folder has no mark, but its details name the folder.
    await row(page, "Trip").dblclick();
    await row(page, "inside.txt").click();
    expect(
      await row(page, "inside.txt")
        .getByRole("img", { name: /Shared/ })
        .count(),
    ).toBe(0);
    await page.keyboard.press("i");
    const details = page.getByRole("region", { name: "inside.txt" });
    await details.getByRole("tab", { name: "Shares" }).click();
    await details
      .getByRole("region", { name: "Shared through a folder" })
      .getByRole("link", { name: "Trip" })
      .waitFor();
  });
});
