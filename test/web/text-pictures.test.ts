import { expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import type { Client } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { row, tile } from "./files-helpers.ts";
import { describeWeb, type Web } from "./support/browser.ts";

const MARKDOWN = `# Garden

The beds along the wall need water on **dry days**, early in the morning.

- tomatoes, three kinds
- beans
- courgettes
`;
const CODE = `export function area({ width, height }: Size): number {
\tif (width < 0) throw new RangeError("width");
\treturn width * height;
}
`;
const TABLE = ["date,item,price", ...Array.from({ length: 30 }, (_, i) => `2026-04-${i + 1},seeds,${i}.50`)].join("\n");

/** Files of an example folder, by name. */
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "Garden.md": MARKDOWN,
  "area.ts": CODE,
  "prices.csv": TABLE,
  "page.html": '<h1 id="drawn">A page</h1><img src="/nowhere.png" onerror="alert(1)">',
  "Café.txt": `\uFEFFDas Café am See hat täglich geöffnet. ${"Es gibt Kuchen. ".repeat(400)}`,
  "old.txt": Buffer.from("Prix en \x80: un caf\xe9", "latin1"),
  "עברית.txt": "שלום עולם\nשורה שנייה",
  "empty.txt": "",
  "binary.txt": new Uint8Array([1, 0, 2, 0, 3]),
};

async function upload(client: Client, fields: Record<string, string> = {}): Promise<void> {
  for (const [name, content] of Object.entries(FILES)) {
    // oxlint-disable-next-line no-await-in-loop -- in this order
    expectStatus(await client.upload(content, { name, fields }), 201);
  }
}

function lines(page: Page, name: string): Locator {
  return tile(page, name).locator('[data-part="first-lines"]');
}

async function showTiles(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Tiles" }).click();
  await lines(page, "Garden.md").waitFor();
}

/** The addresses of the requests for first lines. */
function watchRequests(page: Page): string[] {
  const requested: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("thumbnail=text")) requested.push(request.url());
  });
  return requested;
}

describeWeb("pictures of texts", (web: Web) => {
  test("tiles show the first lines as plain text, and the icon of files that have none", async () => {
    const { client, ...account } = await web.account();
    await upload(client);
    const page = await web.open({ as: { client, ...account } });
    const requested = watchRequests(page);
    await row(page, "Garden.md").waitFor();
    expect(requested).toEqual([]);
    await showTiles(page);
    await lines(page, "Garden.md").getByText("# Garden").waitFor();
    await lines(page, "area.ts").getByText("export function area").waitFor();
    await lines(page, "prices.csv").getByText("date,item,price").waitFor();
    await lines(page, "page.html").getByText('<h1 id="drawn">').waitFor();
    await lines(page, "old.txt").getByText("Prix en €: un café").waitFor();
    await lines(page, "Café.txt").getByText("Das Café am See").waitFor();
    expect(await lines(page, "Café.txt").textContent()).toStartWith("Das");
    expect(await page.locator("#drawn").count()).toBe(0);
    for (const name of ["empty.txt", "binary.txt"]) {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await tile(page, name).locator("svg[data-icon=text]").waitFor();
      // oxlint-disable-next-line no-await-in-loop -- one after another
      expect(await lines(page, name).count()).toBe(0);
    }
    // The name is the label: what the picture shows is not read out.
    expect(await lines(page, "Garden.md").getAttribute("aria-hidden")).toBe("true");
    await web.lookAt(page, "text-tiles");
    // One request each, none for the empty file, and none when the list is shown again.
    expect(requested.length).toBe(8);
    await page.getByRole("button", { name: "List" }).click();
    await row(page, "Garden.md").waitFor();
    await showTiles(page);
    expect(requested.length).toBe(8);
    // None of it counts as a download.
    const list = await client.get("/api/files?folder=/");
    const ids = list.strings("data.files", "id");
    const counts = await Promise.all(
      ids.map(async (id) => (await client.get(`/api/files/${id}`)).at("data.downloadCount")),
    );
    expect(new Set(counts)).toEqual(new Set([0]));
  });

  test("the details show them too, and new content shows new lines", async () => {
    const { client, ...account } = await web.account();
    const id = await client.storedId(MARKDOWN, { name: "Garden.md" });
    const page = await web.open({ as: { client, ...account } });
    await showTiles(page);
    await tile(page, "Garden.md").click();
    await page.keyboard.press("i");
    const details = page.getByRole("region", { name: "Details of Garden.md" });
    await details.getByText("# Garden").waitFor();
    await web.lookAt(page, "text-details");
    expectStatus(await client.putContent(id, "Winter plan"), 200);
    await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
    await lines(page, "Garden.md").getByText("Winter plan").waitFor();
  });

  test("whom a folder is shared with sees them on a phone", async () => {
    const owner = await web.account("Olivia Owner");
    const friend = await web.account("Fred Friend");
    const folder = await owner.client.folderId("Garden");
    await upload(owner.client, { folder: "/Garden" });
    const shared = { user: friend.email, permissions: "read" };
    expectStatus(await owner.client.post(`/api/files/folders/${folder}/shares`, shared), 201);
    const page = await web.open({ as: friend, path: "/shared/with-me", size: "phone" });
    await row(page, "Garden").dblclick();
    await row(page, "Garden.md").waitFor();
    await showTiles(page);
    await lines(page, "Garden.md").getByText("# Garden").waitFor();
  });
});
