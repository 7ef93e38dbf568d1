import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { eventually, expectStatus } from "../support/expect.ts";
import { names, row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { undo } from "./support/undo.ts";

/** Opens the menu of an entry and chooses an action. */
async function choose(page: Page, entry: string, action: string): Promise<void> {
  await row(page, entry)
    .getByRole("button", { name: `More actions for ${entry}` })
    .click();
  await page.getByRole("menuitem", { name: action }).click();
}

const pinned = (page: Page) => page.getByRole("region", { name: "Pinned" });
const pinnedNames = (page: Page) => pinned(page).getByRole("link").allTextContents();

describeWeb("pins in the sidebar", (web) => {
  test("lead to folders, are ordered by menu, keyboard and mouse, and are removed", async () => {
    const account = await web.account();
    const { client } = account;
    await client.folderId("Trips");
    await client.folderId("Alps", "/Trips");
    await client.folderId("Bills");
    await client.storedId("x", { name: "note.txt" });
    const page = await web.open({ as: account, path: "/files" });
    await row(page, "Trips").waitFor();
    expect(await pinned(page).count()).toBe(0);
    // The title appears while something is dragged that can be pinned.
    const title = pinned(page).getByRole("heading", { name: "Pinned" });
    await row(page, "Trips").hover();
    await page.mouse.down();
    await row(page, "Bills").hover();
    await title.hover();
    await page.mouse.up();
    await page.getByText("Trips is pinned to the sidebar.").waitFor();
    await choose(page, "Bills", "Pin to sidebar");
    await pinned(page).getByRole("link", { name: "Bills" }).waitFor();
    expect(await pinnedNames(page)).toEqual(["Trips", "Bills"]);
    await web.lookAt(page, "pins");
    // A folder is pinned by dropping it on the title; a file is not.
    await page.getByRole("button", { name: "More actions for the pin Bills" }).click();
    await page.getByRole("menuitem", { name: "Unpin" }).click();
    await pinned(page).getByRole("link", { name: "Bills" }).waitFor({ state: "detached" });
    await row(page, "note.txt").dragTo(title);
    await row(page, "Bills").dragTo(title);
    await pinned(page).getByRole("link", { name: "Bills" }).waitFor();
    expect(await pinnedNames(page)).toEqual(["Trips", "Bills"]);
    // By keyboard: the menu key on the link opens the menu of the pin.
    await pinned(page).getByRole("link", { name: "Bills" }).focus();
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Move up" }).press("Enter");
    await eventually("it moved", async () => (await pinnedNames(page)).join() === "Bills,Trips");
    // With the mouse.
    const [trips, bills] = ["Trips", "Bills"].map((name) => pinned(page).getByRole("link", { name }));
    if (trips === undefined || bills === undefined) throw new Error("no pins");
    await trips.dragTo(bills);
    await eventually("it moved back", async () => (await pinnedNames(page)).join() === "Trips,Bills");
    // An entry that is dropped on the pin of a folder moves into it.
    await row(page, "Bills").dragTo(trips);
    await eventually("it is in the folder", async () => (await client.names("/Trips")).includes("Bills"));
    await trips.click();
    await page.getByRole("heading", { level: 1, name: "Trips" }).waitFor();
    await row(page, "Bills").waitFor();
    expect(await names(page)).toEqual(["Alps", "Bills"]);
    await pinned(page).locator('[aria-current="page"]').getByText("Trips").waitFor();
    // It has the current name and place of the folder.
    await choose(page, "Bills", "Unpin from sidebar");
    await eventually("it is removed", async () => (await pinnedNames(page)).join() === "Trips");
    await undo(page, "Bills is no longer pinned.");
    await eventually("it is back", async () => (await pinnedNames(page)).join() === "Trips,Bills");
    await pinned(page).getByRole("link", { name: "Bills" }).click();
    await page.getByRole("heading", { level: 1, name: "Bills" }).waitFor();
  });

  test("the links to Favorites and Trash take dropped entries, one or the selection", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.storedId(name, { name });
    const page = await web.open({ as: account, path: "/files" });
    const link = (name: string) =>
      page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });
    await row(page, "c.txt").dragTo(link("Favorites"));
    await page.getByText("1 item added to favorites.").waitFor();
    expect((await account.client.get("/api/favorites")).strings("data.favorites", "name")).toEqual(["c.txt"]);
    await row(page, "a.txt").click();
    await row(page, "b.txt").click({ modifiers: ["Shift"] });
    await row(page, "a.txt").dragTo(link("Trash"));
    await row(page, "b.txt").waitFor({ state: "detached" });
    expect(await names(page)).toEqual(["c.txt"]);
    await undo(page, "2 items moved to trash.");
    await row(page, "b.txt").waitFor();
    expect(await account.client.names("/")).toEqual(["a.txt", "b.txt", "c.txt"]);
  });

  test("of received folders and albums are there for phones too, and go when the share ends", async () => {
    const owner = await web.account("Olivia Owner");
    const friend = await web.account();
    const folder = await owner.client.folderId("Holiday");
    await owner.client.folderId("Day 1", "/Holiday");
    const album = (await owner.client.post("/api/albums", { name: "Best of" })).string("data.id");
    const shared = await owner.client.post(`/api/files/folders/${folder}/shares`, { user: friend.email });
    expectStatus(shared, 201);
    expectStatus(await owner.client.post(`/api/albums/${album}/shares`, { user: friend.email }), 201);
    const page = await web.open({ as: friend, path: "/shared/with-me", size: "phone" });
    await choose(page, "Holiday", "Pin to sidebar");
    await page.getByText("Holiday is pinned to the sidebar.").waitFor();
    await choose(page, "Best of", "Pin to sidebar");
    await page.getByText("Best of is pinned to the sidebar.").waitFor();
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    await pinned(page).getByRole("link", { name: "Best of" }).waitFor();
    await web.lookAt(page, "pins-received");
    await pinned(page).getByRole("link", { name: "Holiday" }).tap();
    await page.getByRole("heading", { level: 1, name: "Holiday" }).waitFor();
    await row(page, "Day 1").waitFor();
    expectStatus(await owner.client.delete(`/api/shares/${shared.string("data.id")}`), 200);
    const scripts: string[] = [];
    page.on("request", (request) => scripts.push(request.url()));
    await page.reload();
    await page.getByText("This is no longer shared with you").waitFor();
    await page.waitForLoadState("networkidle");
    // Only the menu shows the pins: they must not delay what the page shows.
    expect(scripts.filter((address) => address.includes("/pin-list-"))).toEqual([]);
    await page.getByRole("button", { name: "Menu", exact: true }).click();
    await pinned(page).getByRole("link", { name: "Best of" }).waitFor();
    expect(await pinnedNames(page)).toEqual(["Best of"]);
  });
});
