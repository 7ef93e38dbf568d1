// Takes the screenshots of the README, with a library that was made for them. Run by scripts/screenshots.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import type { Account } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { seedSampleLibrary } from "../support/sample-library.ts";
import { repositoryRoot, type TestServer, withServer } from "../support/server.ts";
import { launchChromium } from "./support/chromium.ts";
import { openPreview, overlay } from "./support/preview.ts";

const FOLDER = resolve(repositoryRoot, "scripts/pictures");
const DESKTOP = { width: 1200, height: 750 };
const PHONE = { width: 390, height: 750 };
const BYTES_MAX = 60_000;

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
    await page.goto("/search?q=plum");
    await page.getByText("Plum cake").first().waitFor();
    await take(page, "search");
    const phone = await open(server, account, browser, PHONE, "dark");
    await phone.goto("/files/House");
    await phone.getByText("Garden plan.pdf").first().waitFor();
    await take(phone, "phone");
  } finally {
    await browser.close();
  }
});

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
