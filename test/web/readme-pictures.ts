// Takes the screenshots of the README and of docs/web-app, with a library that was made for them. Run by
// scripts/screenshots.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import type { Account } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { landscape, seedSampleLibrary } from "../support/sample-library.ts";
import { repositoryRoot, type TestServer, withServer } from "../support/server.ts";
import { untilFound } from "../support/text-search.ts";
import { launchChromium } from "./support/chromium.ts";
import { openPreview, overlay } from "./support/preview.ts";

const FOLDER = resolve(repositoryRoot, "scripts/pictures");
const DESKTOP = { width: 1200, height: 750 };
const PHONE = { width: 390, height: 750 };
const BYTES_MAX = 60_000;

/** Latitude and longitude. */
const TOWNS = [
  [47.37, 8.54],
  [41.9, 12.5],
  [59.91, 10.75],
  [38.72, -9.14],
] as const;

await withServer({}, async (server) => {
  const account = await server.signUp({ name: "Anna Berg", email: "anna@example.org" });
  await seedSampleLibrary(account, { friend: await server.signUp({ name: "Ben Hill" }) });
  await thumbnailsOf(account);
  mkdirSync(FOLDER, { recursive: true });
  const browser = await launchChromium();
  try {
    const page = await open(server, account, browser, DESKTOP, "light");
    await page.goto("/files/Photos/2025");
    await page.getByRole("button", { name: "Tiles" }).click();
    await take(page, "files");
    await page.goto("/photos");
    await take(page, "photos");
    await page.goto("/files/Photos/2025");
    await page.getByText("IMG_4799.jpg").first().waitFor();
    await openPreview(page, "IMG_4799.jpg");
    await overlay(page).locator("img").first().waitFor();
    await take(page, "preview");
    await untilFound(account.client, "flour", 2);
    await page.goto("/search?q=flour");
    await page.getByRole("button", { name: "List", exact: true }).click();
    await page.locator("mark").first().waitFor();
    await take(page, "search");
    const phone = await open(server, account, browser, PHONE, "dark");
    await phone.goto("/files/House");
    await phone.getByText("Garden plan.pdf").first().waitFor();
    await take(phone, "phone");
    await takeGuide(server, account, browser);
  } finally {
    await browser.close();
  }
});

/** The pictures of docs/web-app. */
async function takeGuide(server: TestServer, account: Account, browser: Browser): Promise<void> {
  const { client } = account;
  const photos = (await client.get("/api/photos?limit=100")).strings("data.photos", "id");
  const named = await client.post("/api/albums", { name: "A summer by the lake", fileIds: photos.slice(0, 9) });
  await client.post("/api/favorites", { ids: photos.slice(0, 2), favorite: true });
  for (const [index, town] of TOWNS.entries()) {
    await client.stored(await photoAt(index, town), { name: `view-${index}.jpg`, type: "image/jpeg" });
  }
  await eventually("the places", async () => {
    const found = await client.get("/api/photos/places");
    return found.at("data.isSettling") === false && found.strings("data.places", "name").includes("Oslo");
  });
  const page = await open(server, account, browser, DESKTOP, "light");
  await page.goto("/files/House");
  await page.getByRole("columnheader", { name: /Name/ }).first().waitFor();
  await take(page, "lists");
  await page.goto(`/albums/${named.string("data.id")}`);
  await page.getByRole("heading", { level: 1, name: "A summer by the lake" }).waitFor();
  await take(page, "album");
  await page.goto("/photos/places");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await take(page, "places");
  await page.goto(`/photos?view=${photos[1] ?? ""}`);
  await overlay(page).getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Crop" }).click();
  await page.locator("[data-crop-area]").waitFor();
  await take(page, "crop");
  const phone = await open(server, account, browser, PHONE, "light");
  await phone.goto(`/photos?view=${photos[1] ?? ""}`);
  await overlay(phone).locator("img").first().waitFor();
  await take(phone, "phone-preview");
  const settings = await open(server, await server.addUser(["--admin"]), browser, DESKTOP, "light");
  await settings.goto("/admin/settings");
  await settings.getByRole("heading", { level: 1 }).waitFor();
  await take(settings, "administration");
  const visitor = await browser.newContext({ baseURL: server.url, viewport: DESKTOP, locale: "en-GB" });
  const signIn = await visitor.newPage();
  await signIn.goto("/sign-in");
  await take(signIn, "sign-in");
}

/** A photo with a position. */
async function photoAt(seed: number, [latitude, longitude]: readonly [number, number]): Promise<Buffer> {
  const degrees = (value: number) => `${Math.floor(Math.abs(value))}/1 ${Math.round((Math.abs(value) % 1) * 60)}/1 0/1`;
  return sharp(await landscape(seed + 50))
    .withExif({
      IFD2: { DateTimeOriginal: `2024:07:0${seed + 1} 12:00:00` },
      IFD3: {
        GPSLatitudeRef: latitude < 0 ? "S" : "N",
        GPSLatitude: degrees(latitude),
        GPSLongitudeRef: longitude < 0 ? "W" : "E",
        GPSLongitude: degrees(longitude),
      },
    })
    .jpeg()
    .toBuffer();
}

async function open(
  server: TestServer,
  account: Account,
  browser: Browser,
  viewport: { width: number; height: number },
  colorScheme: "light" | "dark",
): Promise<Page> {
  const context = await browser.newContext({
    baseURL: server.url,
    viewport,
    colorScheme,
    locale: "en-GB",
    reducedMotion: "reduce",
    serviceWorkers: "block",
  });
  context.setDefaultTimeout(60_000);
  const { email, password } = account;
  await context.request.post("/api/auth/signin", { data: { email, password, cookie: true } });
  return context.newPage();
}

/** Waits until every photo has its thumbnail and its day, which the server determines in the background. */
async function thumbnailsOf({ client }: Account): Promise<void> {
  const ask = () => client.get("/api/photos?limit=100");
  await eventually("the days", async () => {
    return (await ask()).strings("data.photos", "takenAt").every((day) => day < "2026");
  });
  const photos = (await ask()).strings("data.photos", "id");
  for (const id of photos) {
    await eventually(`the thumbnail of ${id}`, async () => {
      return (await client.get(`/api/files/${id}/download?thumbnail=small`)).status === 200;
    });
  }
}

/**
 * A screenshot small enough for a repository.
 * @throws if it is not
 */
async function take(page: Page, name: string): Promise<void> {
  await page.waitForLoadState("networkidle");
  // Nothing is hovered, so that no tooltip is shown.
  await page.mouse.move(0, 0);
  const picture = await sharp(await page.screenshot({ animations: "disabled" }))
    .webp({ quality: 72, effort: 6 })
    .toBuffer();
  if (picture.length > BYTES_MAX) throw new Error(`${name} has ${picture.length} bytes, more than ${BYTES_MAX}.`);
  await Bun.write(join(FOLDER, `${name}.webp`), picture);
  console.log(`scripts/pictures/${name}.webp  ${picture.length} bytes`);
}
