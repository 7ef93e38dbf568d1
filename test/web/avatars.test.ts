import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { shareWith } from "../support/account-shares.ts";
import { type Account, toBytes } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";

/** Chooses a file as the own picture. */
async function choose(page: Page, path: string, name: string): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name }).click();
  await (await chooser).setFiles(path);
}

/** A green square between red ones: 900 × 300 pixels. */
async function image(): Promise<Buffer> {
  const green = { create: { width: 300, height: 300, channels: 3 as const, background: "#00b060" } };
  const red = sharp({ create: { width: 900, height: 300, channels: 3, background: "#d03030" } });
  return red
    .composite([{ input: green, left: 300, top: 0 }])
    .jpeg({ quality: 95 })
    .toBuffer();
}

async function colorOf({ client, id }: Account): Promise<"red" | "green"> {
  const { dominant } = await sharp((await client.get(`/api/users/${id}/avatar`)).bytes).stats();
  return dominant.r > dominant.g ? "red" : "green";
}

describeWeb("the picture of a person", (web) => {
  test.each(["desktop", "phone"] as const)("is cropped, shown, and removed on a %s", async (size) => {
    const folder = await mkdtemp(join(tmpdir(), "larder-avatar-"));
    try {
      const path = join(folder, "me.jpg");
      await Bun.write(path, await image());
      const account = await web.account("Ada King");
      const page = await web.open({ as: account, path: "/settings/profile", size });
      await choose(page, path, "Choose a picture");
      const dialog = page.getByRole("dialog", { name: "Your picture" });
      await dialog.locator("[data-crop-area]").waitFor();
      // Escape changes nothing.
      await closeByKey(page, dialog);
      expectStatus(await account.client.get(`/api/users/${account.id}/avatar`), 404);
      await choose(page, path, "Choose a picture");
      await dialog.locator("[data-crop-area]").waitFor();
      await web.lookAt(page, `avatar-crop-${size}`);
      await dialog.getByRole("button", { name: "Save" }).click();
      await page.getByText("Picture saved.").waitFor();
      // On the profile page, and in the top bar without a reload.
      await page.locator(`img[data-avatar="${account.id}"]`).nth(1).waitFor();
      expect(await colorOf(account)).toBe("green");
      await web.lookAt(page, `avatar-profile-${size}`);
      // By numbers: the left square.
      await choose(page, path, "Change picture");
      await dialog.getByLabel("Left").fill("0");
      await dialog.getByRole("button", { name: "Save" }).focus();
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      expect(await colorOf(account)).toBe("red");
      await page.getByRole("button", { name: "Remove picture" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Remove picture" }).click();
      await page.getByText("Picture removed.").waitFor();
      await page.getByRole("button", { name: "Choose a picture" }).waitFor();
      await page.locator("[data-initials=AK]").first().waitFor();
      expectStatus(await account.client.get(`/api/users/${account.id}/avatar`), 404);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("is shown where the person shares something, and nothing is requested of people without one", async () => {
    const [owner, other, account] = [await web.account("Olga Owner"), await web.account("Otto"), await web.account()];
    const body = Uint8Array.from(await image());
    expectStatus(await owner.client.request("PUT", "/api/users/avatar", { body }), 200);
    await shareWith(owner.client, await owner.client.folderId("trips"), account);
    await shareWith(other.client, await other.client.folderId("books"), account);
    const page = await web.open({ as: account, path: "/shared/with-me" });
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname));
    await page.locator(`img[data-avatar="${owner.id}"]`).first().waitFor();
    await page.locator("[data-initials=O]").first().waitFor();
    expect(requested.filter((path) => path.includes(other.id))).toEqual([]);
    await web.lookAt(page, "avatar-received");
    const phone = await web.open({ as: account, path: "/shared/with-me", size: "phone" });
    await phone.getByText("From Olga Owner").locator(`img[data-avatar="${owner.id}"]`).waitFor();
    await web.lookAt(phone, "avatar-received-phone");
    await page.getByRole("button", { name: /Notifications/ }).click();
    await page.getByRole("dialog").locator(`img[data-avatar="${owner.id}"]`).first().waitFor();
  });

  test("a file that is no image is rejected with a reason", async () => {
    const folder = await mkdtemp(join(tmpdir(), "larder-avatar-"));
    try {
      const path = join(folder, "page.png");
      await Bun.write(path, toBytes("<!doctype html>"));
      const page = await web.open({ as: await web.account(), path: "/settings/profile" });
      await choose(page, path, "Choose a picture");
      const dialog = page.getByRole("dialog", { name: "Your picture" });
      await dialog.getByText("This browser can't read this image.").waitFor();
      expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
