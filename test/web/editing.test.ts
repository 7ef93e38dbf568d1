import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import sharp from "sharp";
import type { Account } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { describeWeb } from "./support/browser.ts";
import { openPreview, overlay } from "./support/preview.ts";
import { dismiss, undo } from "./support/undo.ts";

/** A picture of 600 × 400 pixels: red left, blue right. */
async function picture(): Promise<Buffer> {
  const left = { create: { width: 300, height: 400, channels: 3 as const, background: "#ff0000" } };
  const whole = sharp({ create: { width: 600, height: 400, channels: 3, background: "#0000ff" } });
  return whole
    .composite([{ input: left, left: 0, top: 0 }])
    .jpeg()
    .toBuffer();
}

async function describe(account: Account, id: string) {
  const { bytes } = await account.client.get(`/api/files/${id}/download`);
  const { width, height, orientation } = await sharp(Buffer.from(bytes)).metadata();
  return { width, height, orientation };
}

async function choose(page: Page, action: string): Promise<void> {
  await overlay(page).getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

describeWeb("editing a picture", (web) => {
  test("rotates it in the preview, and takes it back", async () => {
    const account = await web.account();
    const id = await account.client.storedId(await picture(), { name: "house.jpg" });
    const page = await web.open({ as: account });
    await openPreview(page, "house.jpg");
    const shown = overlay(page).locator("img").first();
    await shown.waitFor();
    await choose(page, "Rotate right");
    await dismiss(page, "Rotated.");
    expect((await describe(account, id)).orientation).toBe(6);
    await eventually("the rotated picture", async () => {
      const box = await shown.boundingBox();
      return box !== null && box.height > box.width;
    });
    await page.keyboard.press("r");
    await eventually("two rotations", async () => (await describe(account, id)).orientation === 3);
    await undo(page, "Rotated.");
    await page.getByText("Previous version restored.").waitFor();
    expect((await describe(account, id)).orientation).toBe(6);
  });

  test("crops it with the pointer and by numbers, as a new version", async () => {
    const account = await web.account();
    const id = await account.client.storedId(await picture(), { name: "house.jpg" });
    const page = await web.open({ as: account });
    await openPreview(page, "house.jpg");
    await overlay(page).locator("img").first().waitFor();
    await choose(page, "Crop");
    const dialog = page.getByRole("dialog", { name: "Crop house.jpg" });
    const area = dialog.locator("[data-crop-area]");
    await area.waitFor();
    await web.lookAt(page, "crop");
    expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    const box = (await dialog.locator('[data-crop-handle="1,0"]').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const whole = (await area.boundingBox()) ?? box;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - whole.width / 2, box.y, { steps: 5 });
    await page.mouse.up();
    const width = Number(await dialog.getByLabel("Width").inputValue());
    expect(Math.abs(width - 300)).toBeLessThanOrEqual(3);
    await dialog.getByLabel("Width").fill("200");
    await dialog.getByLabel("Height").fill("100");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Cropped.").waitFor();
    await dialog.waitFor({ state: "detached" });
    expect(await describe(account, id)).toMatchObject({ width: 200, height: 100 });
    const versions = await account.client.get(`/api/files/${id}/versions`);
    expect(versions.strings("data.versions", "checksum").length).toBe(2);
  });

  test("is off with the reason where Larder can't write the format", async () => {
    const account = await web.account();
    const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
    await account.client.storedId(await Bun.file("test/fixtures/images/animated.gif").bytes(), { name: "moving.gif" });
    await account.client.storedId(drawing, { name: "drawing.svg", type: "image/svg+xml" });
    for (const [name, actions, reason] of [
      ["moving.gif", ["Rotate right", "Rotate left", "Crop"], "GIFs and animations can't be edited."],
      ["drawing.svg", ["Rotate right", "Rotate left", "Crop"], "SVG drawings can't be rotated or cropped."],
    ] as const) {
      const page = await web.open({ as: account });
      await openPreview(page, name);
      await overlay(page).getByRole("button", { name: "More actions" }).click();
      for (const action of actions) {
        const item = page.getByRole("menuitem", { name: new RegExp(`^${action}`) });
        await item.waitFor();
        expect(await item.getAttribute("aria-disabled")).toBe("true");
        expect(await item.innerText()).toContain(reason);
      }
    }
  });
});
