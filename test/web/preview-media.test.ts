import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { jpegPhoto } from "../support/images.ts";
import { tone } from "../support/sample-library.ts";
import { repositoryRoot } from "../support/server.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey, untilFocused } from "./support/focus.ts";
import { openPreview, overlay, showing } from "./support/preview.ts";

const images = join(repositoryRoot, "test/fixtures/images");

describeWeb("the preview of images, video and audio", (web) => {
  test("navigates by keys, and returns the focus to the file that was shown last", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.upload(`this is ${name}`, { name });
    const page = await web.open({ as: account });
    await openPreview(page, "a.txt");
    await showing(page, "a.txt", "1 of 3");
    await page.keyboard.press("ArrowRight");
    await showing(page, "b.txt", "2 of 3");
    await page.keyboard.press("End");
    await showing(page, "c.txt", "3 of 3");
    await page.keyboard.press("ArrowRight");
    await showing(page, "c.txt", "3 of 3");
    await page.keyboard.press("Home");
    await showing(page, "a.txt", "1 of 3");
    await overlay(page).getByRole("button", { name: "Next" }).click();
    await showing(page, "b.txt", "2 of 3");
    await page.locator("#announcements", { hasText: "b.txt, 2 of 3" }).waitFor({ state: "attached" });
    const saved = page.waitForEvent("download");
    await page.keyboard.press("d");
    expect((await saved).suggestedFilename()).toBe("b.txt");
    await closeByKey(page, overlay(page));
    await page.waitForFunction(() => document.activeElement !== document.body && document.activeElement !== null);
  });

  test("keys that are pressed before the list is loaded work when it is", async () => {
    const account = await web.account();
    for (const name of ["a.txt", "b.txt", "c.txt"]) await account.client.upload(`this is ${name}`, { name });
    const page = await web.open({ as: account });
    const gate = Promise.withResolvers<void>();
    await page.getByRole("main").getByText("a.txt", { exact: true }).first().waitFor();
    await page.route(/\/api\/files\?/, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await openPreview(page, "a.txt");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    gate.resolve();
    await showing(page, "c.txt", "3 of 3");
  });

  test("late results for a closed preview neither appear in the next one nor delay it", async () => {
    const account = await web.account();
    for (let at = 100; at < 450; at++) await account.client.stored("x", { name: `f${at}.txt` });
    const page = await web.open({ as: account });
    await openPreview(page, "f100.txt");
    await showing(page, "f100.txt", "1 of 350");
    const gate = Promise.withResolvers<void>();
    const isOver = Promise.withResolvers<void>();
    await page.route(/\/api\/files\?.*page=4/, async (route) => {
      await gate.promise;
      await route.continue().catch(() => undefined);
      isOver.resolve();
    });
    const late = page.waitForRequest(/\/api\/files\?.*page=4/);
    await untilFocused(page);
    await page.keyboard.press("End");
    const request = await late;
    await closeByKey(page, overlay(page));
    await openPreview(page, "f100.txt");
    await showing(page, "f100.txt", "1 of 350");

    gate.resolve();
    await isOver.promise;
    await request.response().catch(() => undefined);
    await untilFocused(page);
    await page.keyboard.press("ArrowRight");
    await showing(page, "f101.txt", "2 of 350");
    await page.keyboard.press("End");
    await showing(page, "f449.txt", "350 of 350");
    // The overlay of a far page may be a new one, which takes the focus one frame later.
    await untilFocused(page, overlay(page));
    await page.keyboard.press("ArrowLeft");
    await showing(page, "f448.txt", "349 of 350");
  });

  test("goes to a file that loads slowly even if the address follows an earlier step before that", async () => {
    const account = await web.account();
    for (let at = 100; at < 350; at++) await account.client.stored("x", { name: `f${at}.txt` });
    const page = await web.open({ as: account });
    const gate = Promise.withResolvers<void>();
    await page.route(/\/api\/files\?.*page=3/, async (route) => {
      await gate.promise;
      await route.continue();
    });
    await openPreview(page, "f100.txt");
    await showing(page, "f100.txt", "1 of 250");
    const opened = page.url();
    const requested = page.waitForRequest(/\/api\/files\?.*page=3/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("End");
    await requested;
    await page.waitForURL((url) => url.href !== opened);
    gate.resolve();
    await showing(page, "f349.txt", "250 of 250");
    // The overlay of a far page may be a new one, which takes the focus one frame later.
    await untilFocused(page, overlay(page));
    await page.keyboard.press("ArrowLeft");
    await showing(page, "f348.txt", "249 of 250");
  });

  test("`i` opens the details next to it", async () => {
    const account = await web.account();
    await account.client.upload("text", { name: "a.txt" });
    const page = await web.open({ as: account });
    await openPreview(page, "a.txt");
    await page.keyboard.press("i");
    await overlay(page).getByRole("complementary", { name: "Details" }).waitFor();
    expect(
      await overlay(page).getByRole("button", { name: "Details", exact: true }).first().getAttribute("aria-pressed"),
    ).toBe("true");
  });

  test("images are zoomed and moved by keys, wheel and double click", async () => {
    const account = await web.account();
    await account.client.upload(await jpegPhoto(2400, 1600), { name: "view.jpg" });
    const page = await web.open({ as: account });
    await openPreview(page, "view.jpg");
    const picture = overlay(page).getByRole("img", { name: "view.jpg" });
    await picture.waitFor();
    await untilShown(page, "view.jpg", 1600);
    await web.lookAt(page, "preview-image");
    const fit = (await picture.boundingBox())?.width ?? 0;
    await page.keyboard.press("+");
    await overlay(page).getByText("150%").waitFor();
    await page.waitForFunction(
      ([name, width]) =>
        (document.querySelector(`img[alt="${name}"]`)?.getBoundingClientRect().width ?? 0) > width * 1.4,
      ["view.jpg", fit] as const,
    );
    const before = (await picture.boundingBox())?.x ?? 0;
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(
      ([name, x]) =>
        (document.querySelector(`img[alt="${name}"]`)?.getBoundingClientRect().x ?? Number.POSITIVE_INFINITY) < x,
      ["view.jpg", before] as const,
    );
    await page.keyboard.press("0");
    await overlay(page).getByText("100%").waitFor();
    await page.mouse.move(640, 400);
    await page.mouse.wheel(0, -400);
    await overlay(page).getByText("100%").waitFor({ state: "detached" });
    await page.mouse.dblclick(640, 400);
    await overlay(page).getByText("100%").waitFor();
    await overlay(page).getByRole("button", { name: "Zoom in" }).click();
    await overlay(page).getByText("150%").waitFor();
  });

  test("a swipe goes to the next image, and two fingers zoom", async () => {
    const account = await web.account();
    await account.client.upload(await jpegPhoto(800, 600), { name: "1.jpg" });
    await account.client.upload(await jpegPhoto(600, 800), { name: "2.jpg" });
    const page = await web.open({ as: account, size: "phone" });
    await openPreview(page, "1.jpg");
    await untilShown(page, "1.jpg", 800);
    await touch(page, [[{ x: 300, y: 400 }], [{ x: 200, y: 402 }], [{ x: 120, y: 404 }]]);
    await showing(page, "2.jpg", "2 of 2");
    await untilShown(page, "2.jpg", 600);
    await touch(page, [
      [
        { x: 180, y: 400 },
        { x: 220, y: 400 },
      ],
      [
        { x: 150, y: 400 },
        { x: 250, y: 400 },
      ],
      [
        { x: 100, y: 400 },
        { x: 300, y: 400 },
      ],
    ]);
    await overlay(page).getByText("100%").waitFor({ state: "detached" });
    await showing(page, "2.jpg", "2 of 2");
  });

  test("images that browsers don't support show the server's thumbnail, and damaged ones an error", async () => {
    const account = await web.account();
    await account.client.upload(await readFile(join(images, "phone.heic")), { name: "1 phone.heic" });
    await account.client.upload(await readFile(join(images, "text-as.jpg")), {
      name: "2 no picture.jpg",
      type: "image/jpeg",
    });
    const page = await web.open({ as: account });
    await openPreview(page, "1 phone.heic");
    await overlay(page).getByRole("img", { name: "1 phone.heic" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await overlay(page)
      .getByText(/Couldn't show this image/)
      .waitFor();
    await overlay(page).getByRole("link", { name: "Download", exact: true }).waitFor();
    await web.lookAt(page, "preview-none");
  });

  test("video and audio play and seek, and keep their own keys", async () => {
    const account = await web.account();
    await account.client.upload(await readFile(join(images, "clip.mp4")), { name: "1 clip.mp4" });
    await account.client.upload(new Uint8Array(tone()), { name: "2 tone.wav" });
    const page = await web.open({ as: account });
    await openPreview(page, "1 clip.mp4");
    const film = overlay(page).getByLabel("1 clip.mp4", { exact: true });
    await seekToMiddle(page, "video");
    await web.lookAt(page, "preview-video");
    await film.focus();
    await page.keyboard.press("End");
    await showing(page, "1 clip.mp4", "1 of 2");
    await overlay(page).getByRole("button", { name: "Next" }).click();
    await showing(page, "2 tone.wav", "2 of 2");
    await seekToMiddle(page, "audio");
    await web.lookAt(page, "preview-audio");
  });
});

/** Waits until a picture of this width is shown. */
async function untilShown(page: Page, name: string, width: number): Promise<void> {
  await page.waitForFunction(
    ([alt, width]) => document.querySelector<HTMLImageElement>(`img[alt="${alt}"]`)?.naturalWidth === width,
    [name, width] as const,
  );
}

async function seekToMiddle(page: Page, kind: "video" | "audio"): Promise<void> {
  await page.waitForFunction((name) => {
    const player = document.querySelector<HTMLMediaElement>(name);
    return player !== null && player.readyState >= 1 && Number.isFinite(player.duration);
  }, kind);
  const [at, middle] = await page.evaluate(async (name) => {
    const player = document.querySelector<HTMLMediaElement>(name);
    if (player === null) throw new Error("no player");
    const seeked = new Promise((resolve) => player.addEventListener("seeked", resolve, { once: true }));
    player.currentTime = player.duration / 2;
    await seeked;
    return [player.currentTime, player.duration / 2] as const;
  }, kind);
  expect(at).toBeCloseTo(middle, 1);
}

/** Puts fingers on the screen, moves them step by step, and lifts them. */
async function touch(page: Page, steps: readonly (readonly { x: number; y: number }[])[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const [index, points] of steps.entries()) {
    await session.send("Input.dispatchTouchEvent", {
      type: index === 0 ? "touchStart" : "touchMove",
      touchPoints: points.map((point, id) => ({ ...point, id })),
    });
  }
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await session.detach();
}
