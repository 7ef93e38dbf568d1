import { expect, test } from "bun:test";
import type { DeviceRef, Principal } from "../../../../src/features/accounts/auth/principal.ts";
import { fileFacts, notificationBench } from "./support.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const GB = 1024 ** 3;

type Bench = ReturnType<typeof notificationBench>;

/** An account with a phone that uploads and a tablet that is notified. */
async function phoneAndTablet(bench: Bench) {
  const ann = bench.account();
  const phone = await bench.reachable(ann, "Pixel 8");
  const tablet = await bench.reachable(ann, "tablet");
  bench.dispatcher.start();
  return { ann, phone, tablet };
}

/** One upload from a device. */
async function upload(bench: Bench, principal: Principal, device: DeviceRef, name: string): Promise<void> {
  await bench.transaction((tx) =>
    bench.triggers.uploadCompleted(tx, {
      accountId: principal.user.id,
      deviceId: device.id,
      uploadId: null,
      path: "/a.jpg",
      file: fileFacts(name),
    }),
  );
  await bench.idle();
}

async function passTime(bench: Bench, ms: number): Promise<void> {
  bench.clock.ms += ms;
  bench.dispatcher.wake();
  await bench.idle();
}

test("an upload notifies the other devices, not the one that uploaded", async () => {
  const bench = notificationBench();
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  await upload(bench, ann, phone, "IMG_1.jpg");
  expect(bench.channels.sent).toEqual(["tablet: IMG_1.jpg was uploaded from Pixel 8."]);
  expect(bench.channels.attempts[0]?.message).toMatchObject({
    category: "uploads",
    title: "File uploaded",
    collapseKey: "uploads:Pixel 8",
    data: { fileId: "file_IMG_1.jpg", fileName: "IMG_1.jpg", folder: "/Camera", deviceId: "Pixel 8" },
  });
  expect(bench.inbox(ann, phone)).toEqual([]);
  expect(bench.inbox(ann, tablet)).toEqual(["IMG_1.jpg was uploaded from Pixel 8."]);
});

test("many uploads in a row cause one message and few pushes", async () => {
  const bench = notificationBench();
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  for (let i = 1; i <= 12; i++) await upload(bench, ann, phone, `IMG_${i}.jpg`);
  expect(bench.channels.attempts).toHaveLength(1);
  expect(bench.inbox(ann, tablet)).toEqual(["12 files were uploaded from Pixel 8. The most recent is IMG_12.jpg."]);
  await passTime(bench, MINUTE_MS - 1);
  expect(bench.channels.attempts).toHaveLength(1);
  await passTime(bench, 1);
  expect(bench.channels.sent.slice(1)).toEqual([
    "tablet: 12 files were uploaded from Pixel 8. The most recent is IMG_12.jpg.",
  ]);
  const [first, second] = bench.channels.attempts.map(({ message }) => [message.id, message.collapseKey]);
  expect(second).toEqual(first);
});

test("long-running uploads are pushed less and less often", async () => {
  const bench = notificationBench();
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  for (let i = 0; i < 6 * 60; i++) {
    await upload(bench, ann, phone, `IMG_${i}.jpg`);
    await passTime(bench, 10 * SECOND_MS);
  }
  // At 0, 1, 3, 7, 15, 30, 45 and 60 minutes.
  expect(bench.channels.attempts).toHaveLength(8);
  expect(bench.inbox(ann, tablet)).toHaveLength(1);
});

test("an upload after a pause causes a new message", async () => {
  const bench = notificationBench();
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  await upload(bench, ann, phone, "a.jpg");
  await passTime(bench, MINUTE_MS);
  await upload(bench, ann, phone, "b.jpg");
  expect(bench.inbox(ann, tablet)).toHaveLength(2);
  expect(bench.channels.sent).toEqual([
    "tablet: a.jpg was uploaded from Pixel 8.",
    "tablet: b.jpg was uploaded from Pixel 8.",
  ]);
});

test("an upload during the first push is pushed a minute later", async () => {
  const bench = notificationBench();
  const { ann, phone } = await phoneAndTablet(bench);
  bench.channels.reply = () => undefined;
  const event = (name: string) => ({
    accountId: ann.user.id,
    deviceId: phone.id,
    uploadId: null,
    path: "/a.jpg",
    file: fileFacts(name),
  });
  await bench.transaction((tx) => bench.triggers.uploadCompleted(tx, event("a.jpg")));
  const first = await bench.channels.attempt(1);
  await bench.transaction((tx) => bench.triggers.uploadCompleted(tx, event("b.jpg")));
  first.response({ state: "delivered" });
  bench.channels.reply = () => ({ state: "delivered" });
  await bench.idle();
  await passTime(bench, MINUTE_MS);
  expect(bench.channels.sent[1]).toBe("tablet: 2 files were uploaded from Pixel 8. The most recent is b.jpg.");
});

test("uploads during quiet hours cause one push when they end", async () => {
  const bench = notificationBench();
  bench.clock.ms = Date.parse("2026-01-10T22:30:00Z");
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  const quietHours = { enabled: true, start: "22:00", end: "07:00", timezone: "UTC" };
  await bench.notifications.register(ann, { deviceId: "tablet", preferences: { quietHours } });
  for (let i = 1; i <= 10; i++) {
    await upload(bench, ann, phone, `IMG_${i}.jpg`);
    await passTime(bench, 20 * MINUTE_MS);
  }
  expect(bench.channels.attempts).toHaveLength(0);
  expect(bench.inbox(ann, tablet)).toHaveLength(1);
  bench.clock.ms = Date.parse("2026-01-11T07:00:00Z");
  await passTime(bench, 0);
  await passTime(bench, 60 * MINUTE_MS);
  expect(bench.channels.sent).toEqual(["tablet: 10 files were uploaded from Pixel 8. The most recent is IMG_10.jpg."]);
});

test("an updated message is unread again and moves to the top", async () => {
  const bench = notificationBench();
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  await upload(bench, ann, phone, "a.jpg");
  bench.clock.ms += 1;
  await bench.push(ann, "hello");
  expect(await bench.notifications.markRead(ann, tablet, "all")).toEqual({ read: 2, unread: 0 });
  bench.clock.ms += 1;
  await upload(bench, ann, phone, "b.jpg");
  const { items, unread } = bench.notifications.list(ann, tablet, 1, 20);
  expect(unread).toBe(1);
  expect(items.map(({ readAtMs }) => readAtMs === null)).toEqual([true, false]);
});

test("failed uploads share a message of their own", async () => {
  const bench = notificationBench();
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  await upload(bench, ann, phone, "a.jpg");
  for (const name of ["b.jpg", "c.jpg"]) {
    await bench.transaction((tx) =>
      bench.triggers.uploadFailed(tx, {
        accountId: ann.user.id,
        deviceId: phone.id,
        uploadId: "upl_1",
        name,
        reason: "checksum_mismatch",
      }),
    );
  }
  expect(bench.inbox(ann, tablet)).toEqual([
    "2 files could not be uploaded from Pixel 8. The most recent is c.jpg. The uploaded data does not match its checksum.",
    "a.jpg was uploaded from Pixel 8.",
  ]);
});

test("an upload of an unknown device fails and stores nothing", async () => {
  const bench = notificationBench();
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  const failure = await upload(bench, ann, { ...phone, id: 1_000 }, "a.jpg").catch(String);
  expect(failure).toContain("a device that uploads is in the database");
  expect(bench.inbox(ann, tablet)).toEqual([]);
});

test("a storage warning states the usage in readable units", async () => {
  const bench = notificationBench();
  const { ann, phone } = await phoneAndTablet(bench);
  for (const [percentage, usedGb] of [
    [80, 4],
    [100, 5],
    [95, 4.8],
  ] as const) {
    await bench.transaction((tx) =>
      bench.triggers.storageWarning(tx, {
        accountId: ann.user.id,
        percentage,
        usedBytes: usedGb * GB,
        quotaBytes: 5 * GB,
      }),
    );
  }
  expect(bench.notifications.list(ann, phone, 1, 20).items.map(({ data }) => data["percentage"])).toEqual([
    "95",
    "100",
    "80",
  ]);
  expect(bench.inbox(ann, phone)[0]).toBe(
    "You have used 4.8 GB of 5 GB. Delete files you don't need, or ask for more storage.",
  );
  expect(bench.inbox(ann, phone)[1]).toContain("You can't upload files until you free up space.");
});

test("new shares and new API keys notify the account", async () => {
  const bench = notificationBench();
  const { ann, phone } = await phoneAndTablet(bench);
  const share = {
    publicId: "shr_1",
    kind: "account",
    label: null,
    expiresAtMs: null,
    node: { type: "folder", publicId: "fold_1", name: "Trips" },
  } as const;
  await bench.transaction((tx) =>
    bench.triggers.shareReceived(tx, { accountId: ann.user.id, share, ownerId: "usr_1", ownerName: "Bo" }),
  );
  await bench.transaction((tx) =>
    bench.triggers.apiKeyCreated(tx, { accountId: ann.user.id, keyId: "key_1", name: "backup" }),
  );
  expect(bench.inbox(ann, phone)).toEqual([
    "The API key backup was created for your account. If you did not create it, delete it and change your password.",
    "Bo shared Trips with you.",
  ]);
});

test("only the first download of a link causes a notification", async () => {
  const bench = notificationBench();
  const { ann, phone } = await phoneAndTablet(bench);
  for (const isFirst of [true, false]) {
    await bench.transaction((tx) =>
      bench.triggers.shareDownloaded(tx, {
        accountId: ann.user.id,
        file: fileFacts("report.pdf"),
        isFirst,
        shareId: "shr_1",
      }),
    );
  }
  expect(bench.inbox(ann, phone)).toEqual(["report.pdf was downloaded through its public link for the first time."]);
});

test("a new device appears in all inboxes, but is pushed only to the other devices", async () => {
  const bench = notificationBench();
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  await bench.transaction((tx) => bench.triggers.deviceRegistered(tx, { accountId: ann.user.id, device: tablet }));
  await bench.idle();
  expect(bench.channels.attempts.map(({ target }) => target.token)).toEqual(["Pixel 8"]);
  expect(bench.inbox(ann, phone)).toEqual(bench.inbox(ann, tablet));
});

test("risks for the account have the category security", async () => {
  const bench = notificationBench();
  const { ann, phone } = await phoneAndTablet(bench);
  const accountId = ann.user.id;
  await bench.transaction((tx) => {
    bench.triggers.tokenReused(tx, { accountId, device: phone });
    bench.triggers.credentialsChanged(tx, { accountId, what: "email", deviceId: phone.id });
    bench.triggers.massChange(tx, { accountId, device: phone, holdId: "hold_1", changes: 240 });
  });
  const { items } = bench.notifications.list(ann, phone, 1, 20);
  expect(items.map(({ category }) => category)).toEqual(["security", "security", "security"]);
  expect(items[0]?.data).toMatchObject({ holdId: "hold_1", changes: "240", deviceId: "Pixel 8" });
});

test("a message disappears when its transaction is rolled back", async () => {
  const bench = notificationBench();
  const { ann, phone } = await phoneAndTablet(bench);
  const rolledBack = bench.transaction((tx) => {
    bench.triggers.tokenReused(tx, { accountId: ann.user.id, device: phone });
    throw new Error("no");
  });
  await expect(rolledBack).rejects.toThrow("no");
  await bench.idle();
  expect(bench.inbox(ann, phone)).toEqual([]);
  expect(bench.channels.attempts).toHaveLength(0);
});

test("the inbox retains a thousand messages, for ninety days", async () => {
  const bench = notificationBench();
  const ann = bench.account();
  const phone = bench.device(ann, "phone");
  await bench.transaction((tx) => {
    for (let i = 1; i <= 1_003; i++) {
      bench.notifications.notify(tx, ann.user.id, { category: "shares", title: "t", body: String(i), data: {} });
    }
  });
  expect(bench.notifications.list(ann, phone, 1, 1).total).toBe(1_000);
  expect(bench.inbox(ann, phone)[0]).toBe("1003");
  bench.clock.ms += 90 * 24 * 60 * MINUTE_MS;
  expect(await bench.notifications.sweep(500)).toBe(0);
  bench.clock.ms += 1;
  expect(await bench.notifications.sweep(500)).toBe(500);
  expect(await bench.notifications.sweep(5_000)).toBe(500);
});

test("long names and folders leave room for the message", async () => {
  const bench = notificationBench();
  const { ann, phone, tablet } = await phoneAndTablet(bench);
  const name = `${"é".repeat(120)}.jpg`;
  const folder = `/${"x/".repeat(1_500)}`;
  await bench.transaction((tx) =>
    bench.triggers.uploadCompleted(tx, {
      accountId: ann.user.id,
      deviceId: phone.id,
      uploadId: null,
      path: "/a.jpg",
      file: { ...fileFacts(name), folder },
    }),
  );
  await bench.idle();
  const { message } = await bench.channels.attempt(1);
  expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(3_072);
  expect(message.data["fileName"]).toBe(name);
  expect(bench.inbox(ann, tablet)[0]).toStartWith("ééé");
});
