import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Account, Client } from "../support/client.ts";
import { expectSelected, row } from "./files-helpers.ts";
import { describeWeb, type Web } from "./support/browser.ts";
import { closeByKey, untilFocused } from "./support/focus.ts";
import sharp from "sharp";

const NAMES = ["one.png", "two.png", "three.png"];

async function withPictures(web: Web): Promise<{ account: Account; ids: string[] }> {
  const account = await web.account();
  const ids: string[] = [];
  for (const [index, name] of NAMES.entries()) {
    const background = { r: 60 + index * 60, g: 120, b: 200 - index * 60 };
    const picture = await sharp({ create: { width: 90 + index * 30, height: 90, channels: 3, background } }).png();
    ids.push(await account.client.storedId(new Uint8Array(await picture.toBuffer()), { name, type: "image/png" }));
  }
  await account.client.folderId("Papers");
  return { account, ids };
}

async function makeAlbum(client: Client, name: string, fileIds: readonly string[]): Promise<string> {
  return (await client.post("/api/albums", { name, fileIds })).string("data.id");
}

async function namesIn(client: Client, albumId: string): Promise<string[]> {
  return (await client.get(`/api/albums/${albumId}/items`)).strings("data.items", "name");
}

const photo = (page: Page, name: string) => page.getByRole("button", { name: `Photo ${name}` });
const select = (page: Page, name: string) =>
  page.getByRole("checkbox", { name: `Select ${name}` }).click({ force: true });

describeWeb("albums", (web) => {
  test("are made from a selection, and keep an order of their own", async () => {
    const { account } = await withPictures(web);
    const page = await web.open({ as: account, path: "/albums" });
    await page.getByText("No albums yet").waitFor();
    await web.lookAt(page, "albums-empty");
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await row(page, "one.png").click();
    await page.keyboard.press("Control+a");
    await expectSelected(page, 4);
    await row(page, "one.png").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Add to album…" }).click();
    const dialog = page.getByRole("dialog", { name: "Add 3 files to an album" });
    await dialog.getByText("Selected folders and their contents are left out.").waitFor();
    await web.lookAt(page, "albums-add");
    await dialog.getByRole("textbox", { name: "New album" }).fill("Summer");
    await dialog.getByRole("button", { name: "Add" }).click();
    await page.getByText("3 files added to “Summer”.").waitFor();
    await page.getByRole("link", { name: "Albums", exact: true }).click();
    await page.getByRole("link", { name: /Summer/ }).waitFor();
    await web.lookAt(page, "albums");
    await page.getByRole("link", { name: /Summer/ }).click();
    await photo(page, "two.png").waitFor();
    await web.lookAt(page, "album");
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const [first = "", second = "", third = ""] = await namesIn(account.client, id);

    await select(page, third);
    await page.getByRole("toolbar").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Move to start" }).click();
    await page.waitForFunction(
      (name) => document.querySelector('[data-photo="0"]')?.getAttribute("aria-label")?.includes(name) === true,
      third,
    );
    expect(await namesIn(account.client, id)).toEqual([third, first, second]);
    await page.getByRole("toolbar").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Use as cover" }).click();
    await page.getByText("Cover changed.").waitFor();
    await page.getByRole("toolbar").getByRole("button", { name: "Remove from album" }).click();
    await photo(page, third).waitFor({ state: "detached" });
    expect((await account.client.names()).toSorted()).toEqual([...NAMES, "Papers"].toSorted());
    await photo(page, second).click();
    await untilFocused(page, page.getByRole("dialog", { name: second }));
    await page.keyboard.press("ArrowLeft");
    await closeByKey(page, page.getByRole("dialog", { name: first }));
  });

  test("are renamed, and deleted without their files", async () => {
    const { account, ids } = await withPictures(web);
    const id = await makeAlbum(account.client, "Trip", ids);
    const page = await web.open({ as: account, path: `/albums/${id}` });
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit album" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("Lake");
    await dialog.getByRole("textbox", { name: "Description" }).fill("Three days");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Lake" }).waitFor();
    await page.getByText("Three days").waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete album" }).click();
    const question = page.getByRole("alertdialog", { name: "Delete album “Lake”?" });
    await web.lookAt(page, "album-delete");
    await question.getByRole("button", { name: "Delete album" }).click();
    await page.getByText("Album deleted. No files were deleted.").waitFor();
    await page.getByText("No albums yet").waitFor();
    expect((await account.client.get(`/api/files/${ids[0]}`)).status).toBe(200);
  });

  test("share several files at once, also with another account, which sees the album read-only", async () => {
    const { account } = await withPictures(web);
    const recipient = await web.account();
    const page = await web.open({ as: account, path: "/files" });
    await row(page, "one.png").click();
    await row(page, "two.png").click({ modifiers: ["Control"] });
    await page.getByRole("toolbar").getByRole("button", { name: "Share" }).click();
    const dialog = page.getByRole("dialog", { name: "Share 2 files" });
    await dialog.getByText("shared together as an album").waitFor();
    await web.lookAt(page, "albums-share-selection");
    await dialog.getByRole("textbox", { name: "Name" }).fill("For you");
    await dialog.getByRole("button", { name: "Continue" }).click();
    const sharing = page.getByRole("dialog", { name: "Share “For you”" });
    await sharing.getByRole("radio", { name: "People with an account" }).click();
    await web.lookAt(page, "album-share");
    await sharing.getByRole("combobox", { name: /email/i }).fill(recipient.email);
    await sharing.getByRole("button", { name: /^Share/ }).click();
    await sharing.getByText(recipient.email).first().waitFor();
    await closeByKey(page, sharing);
    await page.getByRole("link", { name: "Shared by me" }).click();
    await row(page, "For you").waitFor();

    const other = await web.open({ as: recipient, path: "/shared/with-me" });
    await row(other, "For you").dblclick();
    await photo(other, "one.png").waitFor();
    await other.getByText(/^· Shared by/).waitFor();
    expect(await other.getByRole("button", { name: "Share" }).count()).toBe(0);
    await web.lookAt(other, "album-received");
  });
});
