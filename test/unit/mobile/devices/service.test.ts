import { describe, expect, test } from "bun:test";
import { migrate } from "../../../../src/db/migrate.ts";
import { openDatabase } from "../../../../src/db/open.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import type { EventName } from "../../../../src/events/catalogue.ts";
import { Events } from "../../../../src/events/events.ts";
import { PasswordHasher } from "../../../../src/features/accounts/users/passwords.ts";
import { AuthService } from "../../../../src/features/accounts/auth/service.ts";
import { TokenSigner } from "../../../../src/features/accounts/auth/tokens.ts";
import { DeviceService } from "../../../../src/features/mobile/devices/service.ts";
import type { DeviceInfo } from "../../../../src/features/mobile/devices/types.ts";
import { buildPlans } from "../../../../src/features/accounts/plans/plans.ts";
import { UserService } from "../../../../src/features/accounts/users/service.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const START_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 24 * 60 * 60 * 1000;
const CLIENT = { address: "192.0.2.1", userAgent: undefined };
const PHONE = { deviceId: "phone", platform: "android", model: "Pixel 9" };

/** A user with the free plan, and a clock that a test can change. */
async function setUp() {
  const db = openDatabase(":memory:");
  migrate(db.sqlite, silentLog);
  const writer = new Writer(db.sqlite, silentLog);
  const clock = { ms: START_MS, nowMs: () => clock.ms };
  const passwords = new PasswordHasher({ memoryCost: 8, timeCost: 1 });
  const users = new UserService({ db, writer, clock, passwords, events: new Events(), createRoot: () => 1 });
  const auth = new AuthService({
    db,
    writer,
    clock,
    users,
    passwords,
    tokens: new TokenSigner({ kid: "test", secret: crypto.getRandomValues(new Uint8Array(32)) }),
    secondFactors: { methodsOf: () => [], use: async () => {} },
    tokenLifetimeMs: DAY_MS,
    config: { signup: "open", defaultPlan: "free" },
  });
  const events = new Events();
  const emitted: string[] = [];
  const names: EventName[] = ["device.registered", "device.removed", "security.token_reused"];
  for (const name of names) events.on(name, () => void emitted.push(name));
  const pushed: string[] = [];
  const pushTokens = {
    checkPushToken: async (token: string) => {
      if (token === "bad") throw new Error("rejected");
    },
    registerPushToken: (_tx: unknown, _accountId: number, device: { publicId: string }, token: string) => {
      pushed.push(`${device.publicId} ${token}`);
    },
  };
  const devices = new DeviceService({
    db,
    writer,
    clock,
    log: silentLog,
    users,
    auth,
    events,
    plans: buildPlans(),
    pushTokens,
  });
  const user = await users.add({ email: "ada@example.org", password: "correct horse", role: "user", plan: "free" });
  const checked = await auth.checkPassword("ada@example.org", "correct horse");
  const register = (info: DeviceInfo) => devices.register(checked, info, CLIENT);
  const count = (table: string) =>
    db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1;
  const refresh = (token: string) => devices.refresh(token, "phone", CLIENT);
  return { db, clock, users, auth, devices, user, checked, register, emitted, pushed, count, refresh };
}

/** The reason of the error. */
async function reasonOf(outcome: Promise<unknown>): Promise<unknown> {
  return outcome.then(
    () => "none",
    (error: unknown) => Reflect.get(Object(error), "reason"),
  );
}

describe("a refresh token", () => {
  test("can be exchanged a second time within 30 seconds, to the millisecond", async () => {
    const { register, clock, refresh, emitted } = await setUp();
    const { tokens } = await register(PHONE);
    await refresh(tokens.refreshToken);
    clock.ms += 30_000;
    const fresh = await refresh(tokens.refreshToken);
    const next = await refresh(fresh.tokens.refreshToken);
    clock.ms += 30_001;
    expect(emitted).toEqual(["device.registered"]);
    expect(await reasonOf(refresh(fresh.tokens.refreshToken))).toBe("revoked_token");
    expect(emitted).toEqual(["device.registered", "security.token_reused"]);
    expect(await reasonOf(refresh(next.tokens.refreshToken))).toBe("invalid_token");
  });

  test("whose lost successor is used is rejected, and ends the sign-in only if the newer one was used", async () => {
    const { register, refresh, emitted } = await setUp();
    const { tokens } = await register(PHONE);
    const lost = await refresh(tokens.refreshToken);
    const fresh = await refresh(tokens.refreshToken);
    expect(await reasonOf(refresh(lost.tokens.refreshToken))).toBe("revoked_token");
    const next = await refresh(fresh.tokens.refreshToken);
    expect(emitted).toEqual(["device.registered"]);
    // Two clients use tokens of this device now.
    expect(await reasonOf(refresh(lost.tokens.refreshToken))).toBe("revoked_token");
    expect(emitted).toEqual(["device.registered", "security.token_reused"]);
    expect(await reasonOf(refresh(next.tokens.refreshToken))).toBe("invalid_token");
  });

  test("lasts 90 days, and the next one 90 more", async () => {
    const { register, clock, refresh } = await setUp();
    const first = await register(PHONE);
    clock.ms += 90 * DAY_MS - 1;
    const second = await refresh(first.tokens.refreshToken);
    clock.ms += 90 * DAY_MS;
    expect(await reasonOf(refresh(second.tokens.refreshToken))).toBe("expired_token");
  });

  test("is recorded when it is used, up to a maximum", async () => {
    const { register, auth, user, count, refresh, db } = await setUp();
    const { tokens, device } = await register(PHONE);
    db.sqlite.run(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
       INSERT INTO refresh_tokens (id, device_id, token_hash, session_id, created_at, expires_at, used_at, successor_id)
       SELECT -i, ?1, randomblob(32), 'ses', 0, ?2, 0, 1 - i FROM n`,
      [device.id, START_MS + DAY_MS],
    );
    const next = await refresh(tokens.refreshToken);
    expect(count("refresh_tokens")).toBe(1_000);
    await refresh(next.tokens.refreshToken);
    expect(count("refresh_tokens")).toBe(1_000);
    expect(await reasonOf(refresh(tokens.refreshToken))).toBe("revoked_token");
    expect(count("refresh_tokens")).toBe(0);
    expect(auth.listSessions(user.id)).toEqual([]);
  });

  test("is stored only as a hash", async () => {
    const { register, db } = await setUp();
    const { tokens } = await register(PHONE);
    const row = db.sqlite.query<Record<string, unknown>, []>("SELECT * FROM refresh_tokens").get();
    const digest = new Bun.CryptoHasher("sha256").update(tokens.refreshToken).digest("hex");
    expect(Buffer.from(row?.["token_hash"] as Uint8Array).toString("hex")).toBe(digest);
    expect(JSON.stringify(row)).not.toContain(tokens.refreshToken);
  });

  test("is removed when it has expired, and the session of a valid one stays listed", async () => {
    const { register, auth, user, clock, refresh, count } = await setUp();
    const { tokens } = await register(PHONE);
    const second = await refresh(tokens.refreshToken);
    clock.ms += 9 * DAY_MS;
    await auth.sweepSessions(100);
    expect(count("sessions")).toBe(1);
    expect(count("refresh_tokens")).toBe(2);
    const [listed] = auth.listSessions(user.id);
    expect(listed?.expiresAtMs).toBe(START_MS + 90 * DAY_MS);
    // A lost phone can be signed out by this entry long after its access token has expired.
    await auth.endSession(user.id, listed?.publicId ?? "");
    expect(await reasonOf(refresh(second.tokens.refreshToken))).toBe("invalid_token");
    await register(PHONE);
    clock.ms += 90 * DAY_MS;
    await auth.sweepSessions(100);
    expect(count("sessions")).toBe(0);
    expect(count("refresh_tokens")).toBe(0);
  });
});

describe("a request that began with a valid sign-in", () => {
  test("is confirmed after its token has expired, until the sign-in ends", async () => {
    const { auth, users, clock, checked, user } = await setUp();
    const { token } = await auth.signIn(checked, CLIENT);
    const principal = await auth.identify(token);
    clock.ms += DAY_MS + 1;
    expect(await reasonOf((async () => auth.identify(token))())).toBe("expired_token");
    await auth.sweepSessions(100);
    expect(auth.confirmSignedIn(principal).id).toBe(user.id);
    await users.update(user.id, { isDisabled: true });
    expect(() => auth.confirmSignedIn(principal)).toThrow("signed out");
    await users.update(user.id, { isDisabled: false });
    expect(auth.confirmSignedIn(principal).id).toBe(user.id);
    await auth.signOut(principal, false);
    expect(() => auth.confirmSignedIn(principal)).toThrow("signed out");
  });

  test("is confirmed for at most a day after that", async () => {
    const { auth, clock, checked, count } = await setUp();
    const principal = await auth.identify((await auth.signIn(checked, CLIENT)).token);
    clock.ms += 2 * DAY_MS + 1_000;
    await auth.sweepSessions(100);
    expect(count("sessions")).toBe(0);
    expect(() => auth.confirmSignedIn(principal)).toThrow("signed out");
  });

  test("of a device is confirmed after refreshes, but not after a new registration", async () => {
    const { auth, register, refresh } = await setUp();
    const first = await register(PHONE);
    const principal = await auth.identify(first.tokens.accessToken);
    let { refreshToken } = first.tokens;
    for (let n = 0; n < 6; n++) ({ refreshToken } = (await refresh(refreshToken)).tokens);
    expect(auth.confirmSignedIn(principal).id).toBe(principal.user.id);
    await register(PHONE);
    expect(() => auth.confirmSignedIn(principal)).toThrow("signed out");
  });
});

describe("a device", () => {
  test("emits an event when it is new or registered again after its removal, not when it is updated", async () => {
    const { register, devices, user, emitted, pushed } = await setUp();
    await register(PHONE);
    await register({ ...PHONE, pushToken: "one" });
    expect(emitted).toEqual(["device.registered"]);
    await devices.remove(user.id, "phone");
    await register(PHONE);
    expect(emitted).toEqual(["device.registered", "device.removed", "device.registered"]);
    expect(pushed).toEqual(["phone one"]);
  });

  test("is not registered if its push token is rejected", async () => {
    const { register, count } = await setUp();
    expect(register({ ...PHONE, pushToken: "bad" })).rejects.toThrow("rejected");
    expect(count("devices")).toBe(0);
  });

  test("keeps its row id and name after its removal", async () => {
    const { register, devices, user } = await setUp();
    const { device } = await register(PHONE);
    expect(devices.findById(device.id)).toEqual({ publicId: "phone", name: "Pixel 9" });
    await devices.remove(user.id, "phone");
    expect(devices.find(user.id, "phone")).toBeUndefined();
    expect(devices.findById(device.id)).toEqual({ publicId: "phone", name: "Pixel 9" });
    const again = await register({ ...PHONE, model: "Pixel 10" });
    expect(again.device.id).toBe(device.id);
    expect(devices.findById(device.id)?.name).toBe("Pixel 10");
    expect(devices.findById(999)).toBeUndefined();
  });

  test("is not registered if the account was disabled after the password check", async () => {
    const { register, users, user, count } = await setUp();
    await users.update(user.id, { isDisabled: true });
    expect(await reasonOf(register(PHONE))).toBe("account_disabled");
    expect(count("devices")).toBe(0);
    expect(count("sessions")).toBe(0);
  });

  test("is neither registered nor signed in if the password was changed after the check", async () => {
    const { register, devices, auth, users, user, checked, count } = await setUp();
    await register(PHONE);
    const before = count("sessions");
    await users.update(user.id, { password: "another horse" });
    expect(await reasonOf(register({ ...PHONE, deviceId: "tablet" }))).toBe("bad_credentials");
    expect(await reasonOf(register(PHONE))).toBe("bad_credentials");
    expect(await reasonOf(devices.signIn(checked, "phone", CLIENT))).toBe("bad_credentials");
    expect(await reasonOf(auth.signIn(checked, CLIENT))).toBe("bad_credentials");
    expect(count("devices")).toBe(1);
    expect(count("sessions")).toBe(before);
  });

  test("is deleted when a hundred others were removed after it, unless its changes can still be undone", async () => {
    const { register, devices, user, db, count } = await setUp();
    const ids: number[] = [];
    for (let number = 0; number < 104; number++) {
      const { device } = await register({ ...PHONE, deviceId: `phone-${number}` });
      ids.push(device.id);
      if (number === 1) {
        db.sqlite.run(
          `INSERT INTO undo (account_id, device_id, seq, at, node_id, public_id, kind, what, before)
           VALUES (${user.id}, ${device.id}, 1, 0, 1, 'file_1', 1, 'delete', '{}')`,
        );
      }
      await devices.remove(user.id, `phone-${number}`);
    }
    const isKnown = (number: number) => devices.findById(ids[number] ?? 0) !== undefined;
    expect([0, 1, 2, 3, 4, 103].filter(isKnown)).toEqual([1, 4, 103]);
    expect(count("devices")).toBe(101);
    expect(count("sessions")).toBe(0);
  });

  test("has the time of its last request, exact to a minute", async () => {
    const { register, devices, auth, user, clock } = await setUp();
    const { tokens } = await register(PHONE);
    const lastActiveAt = () => devices.find(user.id, "phone")?.lastActiveAtMs;
    clock.ms += 59_999;
    await auth.identify(tokens.accessToken);
    clock.ms += 1;
    await auth.identify(tokens.accessToken);
    // The time is written in the background, with the next transaction.
    await devices.changeSettings(user.id, "phone", {});
    expect(lastActiveAt()).toBe(START_MS + 60_000);
    clock.ms += 59_999;
    await auth.identify(tokens.accessToken);
    await devices.changeSettings(user.id, "phone", {});
    expect(lastActiveAt()).toBe(START_MS + 60_000);
  });

  test("returns the exact time of its last sync, before and after it is written", async () => {
    const { register, devices, user, clock, db } = await setUp();
    const { device } = await register(PHONE);
    const stored = () => db.sqlite.query<{ at: number | null }, []>("SELECT last_sync_at AS at FROM devices").get()?.at;
    expect(devices.lastSyncAt(device.id)).toBeUndefined();
    devices.noteSync(device.id, START_MS + 5);
    expect(devices.lastSyncAt(device.id)).toBe(START_MS + 5);
    expect(stored()).toBeNull();
    await devices.flush();
    expect(stored()).toBe(START_MS + 5);
    expect(devices.lastSyncAt(device.id)).toBe(START_MS + 5);
    devices.noteSync(device.id, START_MS + 9);
    await devices.remove(user.id, "phone");
    clock.ms += 10;
    await register(PHONE);
    expect(devices.lastSyncAt(device.id)).toBeUndefined();
  });
});
