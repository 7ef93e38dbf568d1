import { expect, test } from "bun:test";
import { shareWith } from "../support/account-shares.ts";
import { pdf } from "../support/sample-library.ts";
import { untilFound } from "../support/text-search.ts";
import { eventually, expectFocus, names, row } from "./files-helpers.ts";
import { describeWeb } from "./support/browser.ts";
import { untilKeysWork } from "./support/focus.ts";
import { undo } from "./support/undo.ts";

describeWeb("the search", (web) => {
  test("finds by words and filters, highlights matches, and keeps everything in the address", async () => {
    const account = await web.account();
    await account.client.folderId("Beaches");
    await account.client.stored("sand", {
      name: "Beach house.txt",
      fields: { folder: "/Beaches", tags: "summer holiday" },
    });
    await account.client.stored("%PDF-1.4", { name: "beach bill.pdf", type: "application/pdf" });
    await account.client.stored("nothing", { name: "mountain.txt" });
    const page = await web.open({ as: account });
    await row(page, "mountain.txt").waitFor();
    await untilKeysWork(page);
    await page.keyboard.press("/");
    await page.keyboard.type("beach");
    await page.keyboard.press("Enter");
    await page.getByText("3 results").waitFor();
    expect((await names(page)).sort()).toEqual(["Beach house.txt", "Beaches", "beach bill.pdf"]);
    await row(page, "Beach house.txt").locator("mark", { hasText: "Beach" }).waitFor();
    await row(page, "Beach house.txt").getByText("/Beaches").waitFor();
    await web.lookAt(page, "search");

    await page.getByLabel("Tag", { exact: true }).selectOption("summer holiday");
    await page.getByText("1 result").waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe('beach tag:"summer holiday"');
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText("3 results").waitFor();
    await page.getByLabel("Extension").fill("pdf");
    await page.keyboard.press("Enter");
    await eventually(() => names(page), ["beach bill.pdf"]);
    await page.goBack();
    await page.getByText("3 results").waitFor();
    await page.reload();
    await page.getByText("3 results").waitFor();

    await row(page, "Beaches").dblclick();
    await page.waitForURL((url) => url.pathname === "/files/Beaches");
    await page.getByRole("grid", { name: "Contents of Beaches" }).waitFor();
    await row(page, "Beach house.txt").waitFor();
  });

  test("finds favorites by a filter, and follows a change of them", async () => {
    const account = await web.account();
    const id = await account.client.storedId("1", { name: "lake.txt" });
    await account.client.storedId("2", { name: "sea.txt" });
    await account.client.post("/api/favorites", { ids: [id], favorite: true });
    const page = await web.open({ as: account, path: "/search" });
    await page.getByLabel("Show").selectOption("Favorites");
    await eventually(() => names(page), ["lake.txt"]);
    expect(new URL(page.url()).searchParams.get("q")).toBe("is:favorite");
    await row(page, "lake.txt").getByRole("img", { name: "Favorite" }).waitFor();
    await web.lookAt(page, "search-favorites");
    await row(page, "lake.txt").click();
    await page.keyboard.press("Shift+S");
    await page.getByText("No results").waitFor();
  });

  test("shows a message if nothing is found, and if the query is invalid", async () => {
    const page = await web.open({ as: await web.account(), path: "/search" });
    await page.getByText("Search your files").waitFor();
    await web.lookAt(page, "search-start");
    const field = page.getByRole("combobox", { name: "Search files and folders" });
    await field.fill("zebra");
    await field.press("Enter");
    await page.getByText("No results").waitFor();
    await web.lookAt(page, "search-nothing");
    await field.fill("size:enormous");
    await field.press("Enter");
    await page.getByText("Can't search for this").waitFor();
    await page.getByText(/size: needs a size/).waitFor();
  });

  test("shows that recent changes may be missing, also if nothing is found", async () => {
    const page = await web.open({ as: await web.account(), path: "/search" });
    await page.route("**/api/files/search*", async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      await route.fulfill({ response, json: { ...body, data: { ...body.data, isIndexing: true } } });
    });
    const field = page.getByRole("combobox", { name: "Search files and folders" });
    await field.fill("quagga");
    await field.press("Enter");
    await page.getByText("No results").waitFor();
    await page.getByText("Some results may not appear yet.").waitFor();
  });

  test("refreshes soon if recent changes may be missing", async () => {
    const account = await web.account();
    await account.client.stored("1", { name: "quagga.txt" });
    const page = await web.open({ as: account, path: "/search" });
    let requests = 0;
    await page.route("**/api/files/search*", async (route) => {
      const response = await route.fetch();
      const { data, ...body } = await response.json();
      if (++requests > 1) return route.fulfill({ response });
      const missing = { ...data, files: [], pagination: { ...data.pagination, total: 0 }, isIndexing: true };
      return route.fulfill({ response, json: { ...body, data: missing } });
    });
    const field = page.getByRole("combobox", { name: "Search files and folders" });
    await field.fill("quagga");
    await field.press("Enter");
    await page.getByText("Some results may not appear yet.").waitFor();
    // Far less than the 30 seconds after which a complete list is refreshed.
    await row(page, "quagga.txt").waitFor({ timeout: 15_000 });
  });

  test("shows how far the contents are prepared, also if nothing is found", async () => {
    const account = await web.account();
    await account.client.stored("1", { name: "quagga.txt" });
    const page = await web.open({ as: account, path: "/search" });
    await page.route("**/api/files/search?*", async (route) => {
      const response = await route.fetch();
      const { data, ...body } = await response.json();
      await route.fulfill({
        response,
        json: { ...body, data: { ...data, contents: { state: "preparing", percent: 42 } } },
      });
    });
    const field = page.getByRole("combobox", { name: "Search files and folders" });
    const status = page.getByRole("status").getByText("Searching in contents is being prepared: 42%");
    for (const [query, result] of [
      ["quagga", "1 result"],
      ["zebra", "No results"],
    ] as const) {
      await field.fill(query);
      await field.press("Enter");
      await page.getByText(result).waitFor();
      await status.waitFor();
    }
  });

  test("finds the contents of what others share, says who does, and opens it", async () => {
    const owner = await web.account("Olga Owner");
    const reader = await web.account();
    const folder = await owner.client.folderId("Trips");
    await owner.client.folderId("Days", "/Trips");
    await owner.client.stored("we saw a kookaburra", { name: "monday.txt", fields: { folder: "/Trips/Days" } });
    await shareWith(owner.client, folder, reader);
    await untilFound(reader.client, "kookaburra");
    const page = await web.open({ as: reader, path: "/search?q=kookaburra" });
    const hit = row(page, "monday.txt");
    await hit.locator("mark", { hasText: "kookaburra" }).waitFor();
    await hit.getByText("Shared by Olga Owner · /Days").waitFor();
    await web.lookAt(page, "search-received");
    await hit.dblclick();
    await page
      .getByRole("dialog", { name: /monday\.txt/ })
      .getByText("we saw a kookaburra")
      .waitFor();
  });

  test("opens a PDF at the page with the words", async () => {
    const account = await web.account();
    const pages = Array.from({ length: 9 }, (_, at) => (at === 6 ? "a wombat" : `page ${at + 1}`));
    await account.client.stored(pdf(pages), { name: "animals.pdf", type: "application/pdf" });
    await untilFound(account.client, "wombat");
    const page = await web.open({ as: account, path: "/search?q=wombat" });
    await row(page, "animals.pdf").dblclick();
    const preview = page.getByRole("dialog", { name: "animals.pdf" });
    await preview.getByText("Page 7 of 9", { exact: true }).waitFor();
    await preview.getByText("a wombat").waitFor();
  });

  test("actions work on the results", async () => {
    const account = await web.account();
    await account.client.folderId("Deep");
    await account.client.stored("1", { name: "report one.txt", fields: { folder: "/Deep" } });
    await account.client.stored("2", { name: "report two.txt" });
    const page = await web.open({ as: account, path: "/search?q=report" });
    await row(page, "report one.txt").click();
    await page.keyboard.press("F2");
    await page.keyboard.type("report three");
    await page.keyboard.press("Enter");
    await row(page, "report three.txt").waitFor();
    await expectFocus(page, "report three.txt");
    await page.keyboard.press("Delete");
    await page.getByText("1 item moved to trash.").waitFor();
    await eventually(() => names(page), ["report two.txt"]);
    await undo(page, "1 item moved to trash.");
    await row(page, "report three.txt").waitFor();
    expect(await account.client.names("/Deep")).toEqual(["report three.txt"]);
  });

  test("suggests while typing, by keyboard, mouse, and touch", async () => {
    const account = await web.account();
    await account.client.folderId("Marmalade");
    await account.client.storedId(
      "Knead the marzipan for five minutes and cover the cake with it. Every guest marvels at it.",
      { name: "marble.txt", fields: { tags: "Marathon" } },
    );
    await untilFound(account.client, "content:marzipan");
    const page = await web.open({ as: account });
    await row(page, "marble.txt").waitFor();
    await untilKeysWork(page);
    const field = page.getByRole("combobox", { name: "Search files and folders" });
    const option = (name: string) => page.getByRole("option", { name });
    await page.keyboard.press("/");
    await page.keyboard.type("mar");
    await option("marzipan").waitFor();
    await web.lookAt(page, "search-suggestions");
    expect(await page.getByRole("option").count()).toBe(5);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await field.getAttribute("aria-activedescendant")).toBe(
      await page.locator('[role="option"][aria-selected="true"]').getAttribute("id"),
    );
    await page.keyboard.press("Escape");
    await option("marzipan").waitFor({ state: "detached" });
    expect(await field.inputValue()).toBe("mar");

    await page.keyboard.type("z");
    await option("marzipan").waitFor();
    await option("Marmalade").waitFor({ state: "detached" });
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "marzipan");
    await row(page, "marble.txt").locator("mark", { hasText: "marzipan" }).waitFor();
    await web.lookAt(page, "search-contents");
    await page.getByLabel("Search in").selectOption("Names");
    await page.getByText("No results").waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("name:marzipan");

    await field.fill("marm");
    await option("Marmalade").click();
    await page.waitForURL((url) => url.pathname === "/files/Marmalade");

    const phone = await web.open({ as: account, size: "phone", path: "/files" });
    await untilKeysWork(phone);
    await phone.getByRole("combobox", { name: "Search files and folders" }).tap();
    await phone.keyboard.type("marb");
    await web.lookAt(phone, "search-suggestions-phone");
    await phone.getByRole("option", { name: "marble.txt" }).tap();
    await phone.getByRole("dialog", { name: /marble\.txt/ }).waitFor();
  });
});
