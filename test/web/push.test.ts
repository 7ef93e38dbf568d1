// Notifications in the browser, with the real service worker. The headless browser allows no notifications, and can't
// subscribe without a connection to its push service: those calls are replaced.
import { afterAll, expect, test } from "bun:test";
import type { Page, Worker } from "playwright-core";
import { shareWith } from "../support/account-shares.ts";
import { eventually } from "../support/expect.ts";
import { WebPushService } from "../support/push-services.ts";
import { describeWeb } from "./support/browser.ts";

const CONFIG = "/api/users/notifications/config";
const PUSH = "/api/users/push-subscriptions";
const services: WebPushService[] = [];

afterAll(async () => {
  for (const service of services) await service.stop();
});

async function startService(vapidPublicKey: string): Promise<WebPushService> {
  const service = await new WebPushService(vapidPublicKey).start();
  services.push(service);
  return service;
}

/** Makes the browser subscribe at a push service of the test, from its next page on. */
async function useService(page: Page, vapidPublicKey: string): Promise<WebPushService> {
  const service = await startService(vapidPublicKey);
  await page.addInitScript((json: string) => {
    Object.defineProperty(Notification, "permission", { get: () => "granted" });
    Object.assign(Notification, { requestPermission: () => Promise.resolve("granted") });
    let current: object | null = null;
    const subscription = {
      toJSON: (): unknown => JSON.parse(json),
      unsubscribe: () => {
        current = null;
        sessionStorage.removeItem("test-subscribed");
        return Promise.resolve(true);
      },
    };
    if (sessionStorage.getItem("test-subscribed") !== null) current = subscription;
    Object.assign(PushManager.prototype, {
      getSubscription: () => Promise.resolve(current),
      subscribe: () => {
        current = subscription;
        sessionStorage.setItem("test-subscribed", "yes");
        return Promise.resolve(subscription);
      },
    });
  }, service.subscription());
  return service;
}

/** Delivers a push message to the worker, as the browser does. */
async function deliver(page: Page, data: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const registration = Promise.withResolvers<string>();
  session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    const [first] = registrations;
    if (first !== undefined) registration.resolve(first.registrationId);
  });
  await session.send("ServiceWorker.enable");
  const { origin } = new URL(page.url());
  await session.send("ServiceWorker.deliverPushMessage", { origin, registrationId: await registration.promise, data });
}

/** What the worker shows and opens. */
interface WorkerRecord {
  readonly shown: readonly { readonly title: string; readonly body: string; readonly data: string }[];
  readonly opened: readonly string[];
}

/** Records what the worker shows and opens, in the place of the system. */
async function recordWorker(page: Page): Promise<Worker> {
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  const [worker] = page.context().serviceWorkers();
  if (worker === undefined) throw new Error("There is no service worker.");
  await worker.evaluate(() => {
    const record = { shown: [] as object[], opened: [] as string[] };
    Object.assign(globalThis, { record });
    Object.assign(ServiceWorkerRegistration.prototype, {
      showNotification: (title: string, { body, data }: { body: string; data: string }) => {
        record.shown.push({ title, body, data });
        return Promise.resolve();
      },
    });
    const { clients } = globalThis as unknown as { clients: object };
    Object.assign(Object.getPrototypeOf(clients), {
      openWindow: (address: string) => {
        record.opened.push(address);
        return Promise.resolve(null);
      },
    });
  });
  return worker;
}

function recordOf(worker: Worker): Promise<WorkerRecord> {
  return worker.evaluate(() => (globalThis as unknown as { record: WorkerRecord }).record);
}

/** Clicks a notification with this data. */
function click(worker: Worker, data: string): Promise<void> {
  return worker.evaluate((path) => {
    const scope = globalThis as unknown as { ExtendableEvent: typeof Event };
    const event = new scope.ExtendableEvent("notificationclick");
    Object.assign(event, { notification: { close: () => undefined, data: path } });
    self.dispatchEvent(event);
  }, data);
}

describeWeb(
  "notifications in the browser",
  (web) => {
    test("are turned on and off by a switch, and end with the sign-out", async () => {
      const account = await web.account();
      const { vapidPublicKey } = (await account.client.get(CONFIG)).at("data") as { vapidPublicKey: string };
      const page = await web.open({
        as: account,
        path: "/settings/appearance",
        hasWorker: true,
      });
      const service = await useService(page, vapidPublicKey);
      await page.goto(page.url().replace("appearance", "notifications"));
      const toggle = page.getByRole("switch", { name: "Notifications in this browser" });
      await toggle.waitFor();
      expect(await toggle.isChecked()).toBe(false);
      await toggle.click();
      await eventually("it is on", () => toggle.isChecked());
      await web.lookAt(page, "settings-push");
      const friend = await web.account("Ann");
      await shareWith(friend.client, await friend.client.storedId("x", { name: "one.txt" }), account);
      await eventually("the message arrives", async () => service.received.length === 1);
      expect(service.faults).toEqual([]);

      await toggle.click();
      await eventually("it is off", async () => !(await toggle.isChecked()) && (await toggle.isEnabled()));
      await shareWith(friend.client, await friend.client.storedId("x", { name: "two.txt" }), account);
      await toggle.click();
      await eventually("it is on again", async () => (await toggle.isChecked()) && (await toggle.isEnabled()));
      await shareWith(friend.client, await friend.client.storedId("x", { name: "three.txt" }), account);
      await eventually("the message arrives", async () => service.received.length === 2);
      expect(service.received[1]?.body).toContain("three.txt");

      await page.getByRole("button", { name: /^Account/ }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await page.evaluate(() => sessionStorage.getItem("test-subscribed"))).toBeNull();
      await shareWith(friend.client, await friend.client.storedId("x", { name: "four.txt" }), account);
      // The message to another sign-in shows that the queue was processed.
      const other = await startService(vapidPublicKey);
      await account.client.post(PUSH, { pushToken: other.subscription() });
      await shareWith(friend.client, await friend.client.storedId("x", { name: "five.txt" }), account);
      await eventually("the other message arrives", async () => other.received.length > 0);
      expect(service.received).toHaveLength(2);
    });

    test("are shown by the worker as text, and open a page of this server", async () => {
      const page = await web.open({ as: await web.account(), hasWorker: true });
      const worker = await recordWorker(page);
      const data = { event: "share.received", type: "folder", shareId: "shr_1", url: "https://evil.example/" };
      await deliver(page, JSON.stringify({ id: "ntf_1", title: "<b>Folder</b>", body: "Ann shared it.", data }));
      await eventually("it is shown", async () => (await recordOf(worker)).shown.length === 1);
      await deliver(page, "not json");
      await eventually("it is shown", async () => (await recordOf(worker)).shown.length === 2);
      const { shown } = await recordOf(worker);
      expect(shown).toEqual([
        { title: "<b>Folder</b>", body: "Ann shared it.", data: "/shared/with-me?share=shr_1" },
        { title: "Larder", body: "You have a new notification.", data: "/files" },
      ]);
      await click(worker, shown[0]?.data ?? "");
      await eventually("it is opened", async () => (await recordOf(worker)).opened.length === 1);
      const { origin } = new URL(page.url());
      expect((await recordOf(worker)).opened).toEqual([`${origin}/shared/with-me?share=shr_1`]);
    });

    test("continue after the browser replaced the subscription, and open pages show it at once", async () => {
      const account = await web.account();
      const page = await web.open({ as: account, hasWorker: true });
      const worker = await recordWorker(page);
      const { vapidPublicKey } = (await account.client.get(CONFIG)).at("data") as { vapidPublicKey: string };
      const [former, next] = [await startService(vapidPublicKey), await startService(vapidPublicKey)];
      const change = () =>
        worker.evaluate(async (json) => {
          Object.assign(PushManager.prototype, { getSubscription: () => Promise.resolve(JSON.parse(json) as object) });
          const scope = globalThis as unknown as { ExtendableEvent: typeof Event };
          const event = new scope.ExtendableEvent("pushsubscriptionchange");
          const done = Promise.withResolvers<void>();
          Object.assign(event, { waitUntil: (work: Promise<void>) => void work.then(done.resolve, done.reject) });
          self.dispatchEvent(event);
          await done.promise;
        }, next.subscription());
      // A sign-in without a subscription gets none.
      await change();
      expect(
        (await page.request.get(new URL(CONFIG, page.url()).href).then((response) => response.json())) as object,
      ).toMatchObject({ data: { isSubscribed: false } });
      const subscribe = { data: { pushToken: former.subscription() }, headers: { origin: new URL(page.url()).origin } };
      expect((await page.request.post(new URL(PUSH, page.url()).href, subscribe)).status()).toBe(200);
      await change();
      const friend = await web.account("Ann");
      await shareWith(friend.client, await friend.client.storedId("x", { name: "one.txt" }), account);
      await eventually("the message arrives", async () => next.received.length === 1);
      expect(former.received).toEqual([]);
      await deliver(page, JSON.stringify({ id: "ntf_1", title: "File shared with you", body: "one", data: {} }));
      await page.getByRole("button", { name: "Notifications, 1 unread" }).waitFor();
    });

    test("say why they are not available", async () => {
      const page = await web.open({ as: await web.account(), path: "/settings/notifications" });
      await page.addInitScript(() => {
        Object.defineProperty(Notification, "permission", { get: () => "denied" });
      });
      await page.reload();
      await page.getByText("Blocked: this browser doesn't allow notifications from Larder.").waitFor();
      expect(await page.getByRole("switch", { name: "Notifications in this browser" }).isDisabled()).toBe(true);
      await page.addInitScript(() => Object.defineProperty(window, "isSecureContext", { get: () => false }));
      await page.reload();
      await page.getByText("Not available: browsers allow this only over HTTPS.").waitFor();
    });
  },
  { env: { LARDER_OUTBOUND_ALLOW: "127.0.0.0/8" } },
);
