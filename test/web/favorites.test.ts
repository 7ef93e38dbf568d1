import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { shareWith } from "../support/account-shares.ts";
import type { Client } from "../support/client.ts";
import { row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, untilFocused } from "./support/focus.ts";

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
    await page.getByRole("button", { name: "Undo" }).last().click();
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
});
