// The bell: notifications of the account in the web app.
import { afterAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { shareWith } from "../support/account-shares.ts";
import type { Account } from "../support/client.ts";
import { eventually } from "../support/expect.ts";
import { WebPushService } from "../support/push-services.ts";
import { describeWeb } from "./support/browser.ts";
import { closeByKey } from "./support/focus.ts";

const services: WebPushService[] = [];
afterAll(async () => {
  for (const service of services) await service.stop();
});

const bell = (page: Page, unread = 0) =>
  page.getByRole("button", { name: unread === 0 ? "Notifications" : `Notifications, ${unread} unread`, exact: true });
const items = (page: Page) => page.getByRole("list", { name: "Notifications" }).getByRole("listitem");

/** Shares a file or folder with an account, which causes a notification. */
async function share(from: Account, to: Account, name: string): Promise<void> {
  await shareWith(from.client, await from.client.storedId("x", { name }), to);
}

describeWeb("the inbox", (web) => {
  test("says what it will show, and counts new notifications; by keyboard", async () => {
    const [ann, ben] = [await web.account("Ann Baker"), await web.account()];
    const page = await web.open({ as: ben, path: "/files" });
    await bell(page).press("Enter");
    await page.getByText("No notifications yet").waitFor();
    await web.lookAt(page, "inbox-empty");
    await closeByKey(page, page.getByRole("dialog"));

    await share(ann, ben, "plan.txt");
    await share(ann, ben, "budget.txt");
    await page.reload();
    await bell(page, 2).click();
    await items(page).nth(1).waitFor();
    expect(await items(page).first().innerText()).toContain("Ann Baker shared budget.txt with you.");
    await web.lookAt(page, "inbox");
    // Opening the list alone marks nothing as read. All can be marked while the server still marks one.
    const isMarked = Promise.withResolvers<void>();
    await page.route("**/api/users/notifications/read", async (route) => {
      await isMarked.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Mark “File shared with you” as read" }).first().press("Enter");
    await eventually("one is read", async () => (await page.getByText("Unread", { exact: true }).count()) === 1);
    await page.getByRole("button", { name: "Mark all as read" }).press("Enter");
    await eventually("all are read", async () => (await page.getByText("Unread", { exact: true }).count()) === 0);
    isMarked.resolve();
    await closeByKey(page, page.getByRole("dialog"));
    await bell(page).waitFor();
    await page.reload();
    await bell(page).waitFor();
  });

  test("a tap on a phone opens the thing, marks it as read, and Back does not return to the list", async () => {
    const [ann, ben] = [await web.account("Ann"), await web.account()];
    const folder = await ann.client.folderId("Trip");
    await ann.client.stored("hello", { name: "day.txt", fields: { folder: "/Trip" } });
    await shareWith(ann.client, folder, ben);
    await share(ann, ben, "recipe.txt");
    const page = await web.open({ as: ben, path: "/photos", size: "phone" });
    await bell(page, 2).tap();
    await items(page).filter({ hasText: "Trip" }).getByRole("link").tap();
    await page.getByText("day.txt").first().waitFor();
    await page.getByRole("dialog", { name: "Notifications" }).waitFor({ state: "detached" });
    await bell(page, 1).waitFor();
    await page.goBack();
    await page.waitForURL(/\/photos$/);
    expect(await page.getByRole("dialog", { name: "Notifications" }).count()).toBe(0);

    await bell(page, 1).tap();
    await items(page).filter({ hasText: "recipe.txt" }).getByRole("link").tap();
    await page.getByRole("dialog", { name: /recipe\.txt/ }).waitFor();
    await eventually("both are read", async () => {
      return (await ben.client.get("/api/users/notifications")).at("data.unread") === 0;
    });
  });

  test("shows older notifications on request, with the number of unread ones", async () => {
    const ben = await web.account();
    const ann = await web.account();
    for (let index = 1; index <= 25; index += 1) await share(ann, ben, `file ${index}.txt`);
    const page = await web.open({ as: ben, path: "/files" });
    await bell(page, 25).click();
    await items(page)
      .getByText(/ file 25\.txt /)
      .waitFor();
    expect(await items(page).count()).toBe(20);
    await page.getByRole("dialog").getByRole("button", { name: "Show more" }).click();
    await items(page)
      .getByText(/ file 1\.txt /)
      .waitFor();
    expect(await items(page).count()).toBe(25);
    await web.lookAt(page, "inbox-all");
    await page.getByRole("button", { name: "Mark all as read" }).click();
    await closeByKey(page, page.getByRole("dialog"));
    await bell(page).waitFor();
  });

  test("asks for permission only after a click, and says if the browser blocks notifications", async () => {
    const page = await web.open({ as: await web.account(), path: "/files" });
    await page.addInitScript(() => {
      Object.assign(globalThis, { permissionRequests: 0 });
      Object.defineProperty(Notification, "permission", {
        get: () => (Reflect.get(globalThis, "permissionRequests") === 0 ? "default" : "denied"),
      });
      Object.assign(Notification, {
        requestPermission: () => {
          Object.assign(globalThis, { permissionRequests: 1 });
          return Promise.resolve("denied");
        },
      });
    });
    await page.reload();
    await bell(page).click();
    const offer = page.getByRole("button", { name: "Turn on notifications in this browser" });
    await offer.waitFor();
    expect(await page.evaluate(() => Reflect.get(globalThis, "permissionRequests") as number)).toBe(0);
    await offer.click();
    await page.getByText("Blocked: this browser doesn't allow notifications from Larder.").waitFor();
    expect(await offer.count()).toBe(0);
  });

  test("on an iPhone says that Larder must be on the home screen", async () => {
    const page = await web.open({
      as: await web.account(),
      path: "/files",
      size: "phone",
      context: { userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Safari/604" },
    });
    await page.addInitScript(() => Reflect.deleteProperty(window, "PushManager"));
    await page.reload();
    await bell(page).tap();
    await page.getByText("first add Larder to the home screen").waitFor();
    await web.lookAt(page, "inbox-iphone");
  });
});
