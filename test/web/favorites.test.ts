import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { shareWith } from "../support/account-shares.ts";
import type { Client } from "../support/client.ts";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, closeMenu, untilFocused } from "./support/focus.ts";
import { undo } from "./support/undo.ts";

async function favoritesOf(client: Client): Promise<string[]> {
  return (await client.get("/api/favorites")).strings("data.favorites", "name");
}

const starOf = (page: Page, name: string) => row(page, name).getByRole("img", { name: "Favorite" });

describeWeb("favorites", (web) => {
  test("are set by key, menu, and preview, and listed on a page of their own", async () => {
    const account = await web.account();
    await account.client.folderId("Letters");
    await account.client.storedId("a", { name: "a.txt", fields: { folder: "/Letters" } });
    await account.client.storedId("b", { name: "b.txt", fields: { folder: "/Letters" } });
    const page = await web.open({ as: account, path: "/favorites" });
    await page.getByText("No favorites yet").waitFor();
    await web.lookAt(page, "favorites-empty");
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await row(page, "Letters").click();
    await page.keyboard.press("Shift+S");
    await page.getByText("1 item added to favorites.").waitFor();
    await starOf(page, "Letters").waitFor();
    await row(page, "Letters").dblclick();
    await row(page, "a.txt").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Add to favorites" }).click();
    await starOf(page, "a.txt").waitFor();
    await row(page, "b.txt").dblclick();
    const preview = page.getByRole("dialog", { name: "b.txt" });
    await untilFocused(page, preview);
    await page.keyboard.press("Shift+S");
    await page.getByRole("button", { name: "Remove from favorites" }).waitFor();
    await closeByKey(page, preview);
    await starOf(page, "b.txt").waitFor();
    expect(await favoritesOf(account.client)).toEqual(["Letters", "a.txt", "b.txt"]);

    await page.getByRole("link", { name: "Favorites", exact: true }).click();
    await row(page, "a.txt").getByText("/Letters").waitFor();
    await web.lookAt(page, "favorites");
    await row(page, "a.txt").click();
    await page.getByRole("toolbar").getByRole("button", { name: "Remove from favorites" }).click();
    await row(page, "a.txt").waitFor({ state: "detached" });
    await undo(page, "1 item removed from favorites.");
    await row(page, "a.txt").waitFor();
    await row(page, "Letters").dblclick();
    await page.getByRole("heading", { name: "Letters" }).waitFor();
  });

  test("lead to received folders, at their place in the share", async () => {
    const [owner, recipient] = [await web.account(), await web.account()];
    const trip = await owner.client.folderId("trip");
    const day = await owner.client.folderId("day", "/trip");
    await owner.client.storedId("1", { name: "sea.txt", fields: { folder: "/trip/day" } });
    await shareWith(owner.client, trip, recipient);
    const page = await web.open({ as: recipient, path: "/favorites" });
    await page.getByText("No favorites yet").waitFor();
    await recipient.client.post("/api/favorites", { ids: [day], favorite: true });
    await page.reload();
    await row(page, "day").dblclick();
    await page.getByText("sea.txt").waitFor();
    expect(new URL(page.url()).pathname).toBe("/shared/with-me");
    expect(await favoritesOf(recipient.client)).toEqual(["day"]);
  });

  test("offer for received entries what their share allows, in the menu and in the preview", async () => {
    const [owner, recipient] = [await web.account(), await web.account()];
    const team = await owner.client.folderId("Team");
    const plan = await owner.client.storedId("1", { name: "plan.txt", fields: { folder: "/Team" } });
    const alone = await owner.client.storedId("2", { name: "alone.txt" });
    const viewed = await owner.client.storedId("3", { name: "viewed.txt" });
    const inAlbum = await owner.client.storedId("4", { name: "in-album.txt" });
    await shareWith(owner.client, team, recipient, { permissions: "write" });
    await shareWith(owner.client, alone, recipient, { permissions: "write" });
    await shareWith(owner.client, viewed, recipient);
    const album = await owner.client.post("/api/albums", { name: "Album", fileIds: [inAlbum] });
    await owner.client.post(`/api/albums/${album.string("data.id")}/shares`, { user: recipient.email });
    const ids = [team, plan, alone, viewed, inAlbum];
    await recipient.client.post("/api/favorites", { ids, favorite: true });
    const page = await web.open({ as: recipient, path: "/favorites" });
    const offered = async (name: string) => {
      await row(page, name).click({ button: "right" });
      await page.getByRole("menuitem", { name: "Remove from favorites" }).waitFor();
      const labels = await page
        .getByRole("menuitem")
        .evaluateAll((items) => items.map((item) => item.querySelector("span")?.textContent ?? ""));
      await closeMenu(page);
      return ["Edit", "Share", "Rename", "Cut", "Move to…", "Move to trash"].filter((label) => labels.includes(label));
    };
    expect(await offered("plan.txt")).toEqual(["Edit", "Rename", "Cut", "Move to…", "Move to trash"]);
    expect(await offered("alone.txt")).toEqual(["Edit"]);
    expect(await offered("viewed.txt")).toEqual([]);
    expect(await offered("in-album.txt")).toEqual([]);
    await row(page, "in-album.txt").dblclick();
    const ofAlbum = page.getByRole("dialog", { name: "in-album.txt" });
    await untilFocused(page, ofAlbum);
    await ofAlbum.getByRole("link", { name: "Download in-album.txt" }).waitFor();
    expect(await ofAlbum.getByRole("button", { name: /^(Share|Move to trash|Edit)$/ }).count()).toBe(0);
    await closeByKey(page, ofAlbum);
    await row(page, "plan.txt").dblclick();
    const preview = page.getByRole("dialog", { name: "plan.txt" });
    await untilFocused(page, preview);
    await preview.getByRole("button", { name: "Edit", exact: true }).waitFor();
    await closeByKey(page, preview);
    // Entries can be dropped on a received folder that may be changed.
    await recipient.client.storedId("5", { name: "mine.txt" });
    await recipient.client.post("/api/favorites", {
      ids: (await recipient.client.get("/api/files")).strings("data.files", "id"),
      favorite: true,
    });
    await page.reload();
    await row(page, "mine.txt").dragTo(row(page, "Team"));
    await page.getByText(/^1 item copied/).waitFor();
    expect((await owner.client.names("/Team")).toSorted()).toEqual(["mine.txt", "plan.txt"]);
    expect(await recipient.client.names()).toEqual(["mine.txt"]);
  });
});
