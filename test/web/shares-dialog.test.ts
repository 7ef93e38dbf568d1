import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expectStatus } from "../support/expect.ts";
import { row } from "./files-helpers.ts";
import { jpegPhoto } from "../support/images.ts";
import { describeWeb, SIZES } from "./support/browser.ts";
import { closeByKey, untilFocused } from "./support/focus.ts";

/** Opens the share dialog of an entry on the files page, as a person does. */
async function openDialog(page: Page, name: string) {
  await row(page, name).click();
  await page.getByRole("toolbar").getByRole("button", { name: "Share", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: `Share “${name}”` });
  await dialog.waitFor();
  return dialog;
}

describeWeb("the share dialog", (web) => {
  test("creates a link with expiry, password and limit, by keyboard, and the link opens", async () => {
    const account = await web.account();
    await account.client.storedId(await jpegPhoto(32, 24), { name: "plan.jpg" });
    const page = await web.open({ as: account });
    const dialog = await openDialog(page, "plan.jpg");
    await web.lookAt(page, "share-new");
    await dialog.getByLabel("Expires").selectOption("7");
    await dialog.getByRole("checkbox", { name: "Require a password" }).focus();
    await page.keyboard.press("Space");
    await dialog.getByRole("button", { name: "Create link" }).click();
    await dialog.getByText("Enter a password of at least 4 characters.").waitFor();
    await dialog.getByLabel("Password", { exact: true }).fill("open sesame");
    await dialog.getByRole("checkbox", { name: "Limit downloads" }).check();
    await dialog.getByLabel("Maximum downloads").fill("3");
    await dialog.getByRole("checkbox", { name: "Hide where photos were taken" }).check();
    await dialog.getByLabel("Note").fill("For the group");
    await page.keyboard.press("Enter");
    const field = dialog.getByLabel("Link to plan.jpg");
    await field.waitFor();
    const shares = await account.client.get("/api/shares");
    expect(shares.at("data.shares.0")).toMatchObject({
      kind: "link",
      label: "For the group",
      hasPassword: true,
      maxDownloads: 3,
      hideLocation: true,
      url: await field.inputValue(),
    });
    expect(Date.parse(shares.string("data.shares.0.expiresAt")) - Date.now()).toBeGreaterThan(6 * 86_400_000);
    await dialog.getByText("0 of 3 downloads").waitFor();
    await web.lookAt(page, "share-made");
    await dialog.getByRole("button", { name: "QR code" }).click();
    const code = page.getByRole("dialog", { name: "QR code of the link to “plan.jpg”" });
    await code.getByRole("img").waitFor();
    await web.lookAt(page, "share-qr");
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      code.getByRole("button", { name: "Save as image" }).click(),
    ]);
    expect(await Bun.file(await saved.path()).text()).toContain("<svg");
  });

  test("offers to hide the location of photos only if there can be photos", async () => {
    const account = await web.account();
    await account.client.storedId("the plan", { name: "plan.txt" });
    await account.client.folderId("Trip");
    const page = await web.open({ as: account });
    const choice = page.getByRole("checkbox", { name: "Hide where photos were taken" });
    const dialog = await openDialog(page, "plan.txt");
    await dialog.getByRole("checkbox", { name: "Limit downloads" }).waitFor();
    expect(await choice.count()).toBe(0);
    await closeByKey(page, dialog);
    await openDialog(page, "Trip");
    await choice.waitFor();
  });

  test("is not covered by a message on a phone", async () => {
    const account = await web.account();
    await account.client.storedId("the plan", { name: "plan.txt" });
    const page = await web.open({ as: account });
    const dialog = await openDialog(page, "plan.txt");
    await page.setViewportSize(SIZES.phone);
    await dialog.getByRole("button", { name: "Create link" }).click();
    const shown = page.getByText("Link created.");
    await shown.waitFor();
    await dialog.getByLabel("Link to plan.txt").waitFor();
    const [message, sheet] = [await shown.boundingBox(), await dialog.boundingBox()];
    if (message === null || sheet === null) throw new Error("the message or the dialog is not shown");
    expect(message.y + message.height).toBeLessThan(sheet.y);
  });

  test("changes a link, and ends it after a confirmation", async () => {
    const account = await web.account();
    const id = await account.client.storedId("x", { name: "old.txt" });
    expectStatus(
      await account.client.post(`/api/files/${id}/shares`, { label: "Before", password: "open sesame" }),
      201,
    );
    const page = await web.open({ as: account });
    const dialog = await openDialog(page, "old.txt");
    await dialog.getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("dialog", { name: "Edit share of “old.txt”" });
    await editor.getByLabel("Note").fill("After");
    await editor.getByRole("checkbox", { name: "Require a password" }).uncheck();
    await web.lookAt(page, "share-edit");
    await editor.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("After", { exact: true }).waitFor();
    const shares = await account.client.get("/api/shares");
    expect(shares.at("data.shares.0")).toMatchObject({ label: "After", hasPassword: false });
    await dialog.getByRole("button", { name: "Stop sharing" }).click();
    const question = page.getByRole("alertdialog", { name: "Stop sharing?" });
    await question.getByRole("button", { name: "Stop sharing" }).click();
    await dialog.getByRole("button", { name: "Create link" }).waitFor();
    expect((await account.client.get("/api/shares")).at("data.shares")).toEqual([]);
  });

  test("creates a drop box for a folder, and shares with a person", async () => {
    const account = await web.account();
    await account.client.folderId("Inbox");
    const page = await web.open({ as: account });
    const dialog = await openDialog(page, "Inbox");
    await dialog.getByRole("radio", { name: /^Drop box/ }).check();
    await dialog.getByRole("checkbox", { name: "Limit total upload size" }).check();
    await dialog.getByLabel("Total size limit (MB)").fill("5");
    const perAddress = dialog.getByLabel("Unfinished uploads per IP address");
    expect(await perAddress.inputValue()).toBe("20");
    await perAddress.fill("201");
    await dialog.getByRole("button", { name: "Create link" }).click();
    await dialog.getByText("Enter a whole number from 1 to 200.").waitFor();
    await perAddress.fill("200");
    await web.lookAt(page, "share-drop-box");
    await dialog.getByRole("button", { name: "Create link" }).click();
    await dialog.getByLabel("Link to Inbox").waitFor();
    await dialog.getByRole("button", { name: "Add share" }).click();
    await dialog.getByRole("radio", { name: /^People/ }).check();
    await dialog.getByRole("combobox", { name: "People, groups, or email addresses" }).fill("friend@example.org");
    await dialog.getByLabel("Permissions").selectOption("write");
    const versions = dialog.getByRole("checkbox", { name: "Show earlier versions" });
    expect(await versions.isChecked()).toBe(true);
    await versions.uncheck();
    await web.lookAt(page, "share-person");
    await dialog.getByRole("button", { name: "Share", exact: true }).click();
    await dialog.getByText("Shared with friend@example.org").waitFor();
    const { shares } = (await account.client.get("/api/shares")).at("data") as { shares: object[] };
    expect(shares).toHaveLength(2);
    expect(shares).toContainEqual(
      expect.objectContaining({ kind: "upload", maxUploadBytes: 5 * 1024 * 1024, maxUploadsPerAddress: 200 }),
    );
    expect(shares).toContainEqual(
      expect.objectContaining({
        kind: "account",
        permissions: "write",
        user: "friend@example.org",
        versions: false,
      }),
    );
  });

  test("keeps the focus while it loads, whether the shares arrive before or after it has the focus", async () => {
    const account = await web.account();
    await account.client.stored("x", { name: "plan.txt" });
    const page = await web.open({ as: account });
    const gate = Promise.withResolvers<void>();
    await page.route("**/shares", async (route) => {
      await gate.promise;
      await route.continue();
    });
    const dialog = await openDialog(page, "plan.txt");
    await untilFocused(page, dialog);
    gate.resolve();
    await dialog.getByRole("button", { name: "Create link" }).waitFor();
    await closeByKey(page, dialog);

    // A busy page: its next frame comes after the response.
    await page.reload();
    await row(page, "plan.txt").waitFor();
    await page.evaluate(() => {
      const [frames, inFrame]: [FrameRequestCallback[], typeof requestAnimationFrame] = [[], requestAnimationFrame];
      window.requestAnimationFrame = (then) => frames.push(then);
      Reflect.set(window, "nextFrame", () => {
        window.requestAnimationFrame = inFrame;
        for (const then of frames) inFrame(then);
      });
    });
    await openDialog(page, "plan.txt");
    await dialog.getByRole("button", { name: "Create link" }).waitFor();
    await page.evaluate(() => Reflect.get(window, "nextFrame")());
    await closeByKey(page, dialog);
  });
});
