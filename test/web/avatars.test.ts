import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import sharp from "sharp";
import { shareWith } from "../support/account-shares.ts";
import { type Account, toBytes } from "../support/client.ts";
import { expectStatus } from "../support/expect.ts";
import { row } from "./files-helpers.ts";
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

/** Sets the picture of an account. */
async function setPicture({ client }: Account): Promise<void> {
  const body = Uint8Array.from(await image());
  expectStatus(await client.request("PUT", "/api/users/avatar", { body }), 200);
}

/** Without this, people find others only by their whole email, and nobody sees the picture of a stranger. */
const PEOPLE_ARE_FOUND = { env: { LARDER_SHOW_PEOPLE: "on" } };

const pictureOf = (where: Locator | Page, { id }: Account) => where.locator(`img[data-avatar="${id}"]`);

describeWeb(
  "the picture of a person",
  (web) => {
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
        await pictureOf(page, account).nth(1).waitFor();
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
      await setPicture(owner);
      await shareWith(owner.client, await owner.client.folderId("trips"), account);
      await shareWith(other.client, await other.client.folderId("books"), account);
      const page = await web.open({ as: account, path: "/shared/with-me" });
      const requested: string[] = [];
      page.on("request", (request) => requested.push(new URL(request.url()).pathname));
      await pictureOf(page, owner).first().waitFor();
      await page.locator("[data-initials=O]").first().waitFor();
      expect(requested.filter((path) => path.includes(other.id))).toEqual([]);
      await web.lookAt(page, "avatar-received");
      const phone = await web.open({ as: account, path: "/shared/with-me", size: "phone" });
      await pictureOf(phone.getByText("From Olga Owner"), owner).waitFor();
      await web.lookAt(phone, "avatar-received-phone");
      await page.getByRole("button", { name: /Notifications/ }).click();
      await pictureOf(page.getByRole("dialog"), owner).first().waitFor();
    });

    test("is shown in the share dialog and in the activity, and an administrator removes it", async () => {
      const [owner, friend] = [await web.account("Olga Owner"), await web.account("Frida Friend")];
      for (const account of [owner, friend]) await setPicture(account);
      await owner.client.storedId("x", { name: "story.txt" });
      const page = await web.open({ as: owner });
      await row(page, "story.txt").click();
      await page.getByRole("toolbar").getByRole("button", { name: "Share", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Share “story.txt”" });
      await dialog.getByRole("radio", { name: /^People with an account/ }).check();
      const people = dialog.getByRole("combobox", { name: "People, groups, or email addresses" });
      await people.pressSequentially("frida");
      await pictureOf(dialog.getByRole("option", { name: "Frida Friend" }), friend).waitFor();
      await people.press("Enter");
      await pictureOf(dialog.getByRole("list", { name: "Chosen" }), friend).waitFor();
      await people.press("Enter");
      await pictureOf(dialog.getByRole("list", { name: "Existing shares" }), friend).waitFor();
      await web.lookAt(page, "avatar-share");
      await closeByKey(page, dialog);
      await row(page, "story.txt").click();
      await page.keyboard.press("i");
      const panel = page.getByRole("region", { name: "Details of story.txt" });
      await panel.getByRole("tab", { name: "Activity" }).click();
      await pictureOf(panel.getByRole("list", { name: "Activity" }), owner)
        .first()
        .waitFor();
      await web.lookAt(page, "avatar-activity");

      const admin = await web.server().addUser(["--admin", "--name", "Root"]);
      const administration = await web.open({ as: admin, path: "/admin/users" });
      await administration.getByRole("searchbox", { name: "Search by name or email" }).fill("frida");
      const person = administration.getByRole("row", { name: /Frida Friend/ });
      await pictureOf(person, friend).waitFor();
      await person.getByRole("button", { name: "Actions for Frida Friend" }).click();
      await administration.getByRole("menuitem", { name: "Remove picture" }).click();
      await administration.getByRole("alertdialog").getByRole("button", { name: "Remove picture" }).click();
      await person.locator("[data-initials=FF]").waitFor();
      expectStatus(await friend.client.get(`/api/users/${friend.id}/avatar`), 404);
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
  },
  PEOPLE_ARE_FOUND,
);
