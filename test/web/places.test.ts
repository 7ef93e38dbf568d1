// Photos by place: the map, the list of towns, and the photos of one town.
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Account, Client } from "../support/client.ts";
import { eventually, expectStatus } from "../support/expect.ts";
import { placedJpeg } from "../support/images.ts";
import { describeWeb } from "./support/browser.ts";

const TOWNS: readonly (readonly [latitude: number, longitude: number, photos: number])[] = [
  [38.7167, -9.1333, 5],
  [41.1496, -8.611, 2],
  [52.52, 13.405, 3],
  [-33.8688, 151.2093, 1],
  [0, -150, 1],
];

async function store(client: Client): Promise<void> {
  let seed = 0;
  for (const [latitude, longitude, photos] of TOWNS) {
    for (let index = 0; index < photos; index++) {
      seed++;
      await client.stored(await placedJpeg(seed * 21, latitude, longitude), {
        name: `photo ${seed}.jpg`,
        type: "image/jpeg",
        fields: { folder: "/Camera", capturedAt: `2024-05-${String(seed).padStart(2, "0")}T12:00:00+02:00` },
      });
    }
  }
  await eventually("all places are known", async () => {
    const response = await client.get("/api/photos/places");
    expectStatus(response, 200);
    return response.at("data.isSettling") === false && response.list("data.places").length === TOWNS.length;
  });
}

const marker = (page: Page, name: string) => page.getByTitle(name, { exact: true });

describeWeb("places", (web) => {
  let account: Account;
  beforeAll(async () => {
    account = await web.account();
    await store(account.client);
  });

  test("lists the towns by country, and shows the photos of one; Back returns to the list", async () => {
    const page = await web.open({ as: account, path: "/photos" });
    const foreign: string[] = [];
    page.on("request", (request) => {
      const { origin } = new URL(request.url());
      if (origin !== new URL(page.url()).origin && origin !== "null") foreign.push(request.url());
    });
    await page.getByRole("link", { name: "Places" }).click();
    await page.getByRole("heading", { level: 1, name: "Places" }).waitFor();
    await page.getByRole("heading", { level: 2, name: "Elsewhere" }).waitFor();
    expect(await page.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual([
      "Portugal",
      "Germany",
      "Australia",
      "Elsewhere",
    ]);
    await page.getByRole("img", { name: "Map of your photos" }).waitFor();
    await page.getByText("Town names: GeoNames, CC BY 4.0; outlines: Natural Earth").waitFor();
    await web.lookAt(page, "places");
    await page.getByRole("link", { name: /^Porto/ }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "Porto" }).waitFor();
    await page.getByRole("button", { name: /^Photo photo 7.jpg/ }).waitFor();
    // Photos of this day in earlier years are from other places too.
    expect(await page.getByRole("region", { name: "On this day" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: /^Photo photo/ }).count()).toBe(2);
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Places" }).waitFor();
    await page.getByRole("link", { name: /^Far from any town/ }).click();
    await page.getByRole("button", { name: /^Photo photo 12.jpg/ }).waitFor();
    expect(foreign).toEqual([]);
  });

  test("a town on the map opens; towns next to each other come apart by the wheel or the buttons", async () => {
    const page = await web.open({ as: account, path: "/photos/places" });
    await marker(page, "Sydney").waitFor();
    const together = marker(page, "2 places");
    await together.waitFor();
    const zoomIn = page.getByRole("button", { name: "Zoom in" });
    await together.click();
    await marker(page, "Lisbon").waitFor();
    expect(await marker(page, "Sydney").isVisible()).toBe(true);
    await page.getByRole("button", { name: "Show all places" }).press("Enter");
    await together.waitFor();
    await together.hover();
    for (let turn = 0; turn < 8; turn++) await page.mouse.wheel(0, -600);
    await marker(page, "Porto").waitFor();
    await zoomIn.press("Enter");
    await page.getByRole("button", { name: "Show all places" }).press("Enter");
    await marker(page, "Sydney").click();
    await page.getByRole("heading", { level: 1, name: "Sydney" }).waitFor();
    expect(new URL(page.url()).searchParams.get("place")).toBe("2147714");
  });

  test("the details of a photo name its town, and lead to its photos", async () => {
    const page = await web.open({ as: account, path: "/photos?place=2147714" });
    await page.getByRole("button", { name: /^Photo photo 11.jpg/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Details" }).click();
    const link = page.getByRole("link", { name: "Sydney" });
    expect(await link.getAttribute("href")).toContain("/photos?place=2147714");
  });

  test("an empty page of places says what to do, and an account without photos has no link to it", async () => {
    const page = await web.open({ as: await web.account(), path: "/photos/places" });
    await page.getByText("No places yet").waitFor();
    await web.lookAt(page, "places-empty");
    await page.getByRole("link", { name: "All photos" }).click();
    await page.getByText("No photos yet").waitFor();
    expect(await page.getByRole("main").getByRole("link", { name: "Places" }).count()).toBe(0);
  });
});
