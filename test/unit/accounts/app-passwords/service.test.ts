import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Events } from "../../../../src/events/events.ts";
import { AppPasswordService } from "../../../../src/features/accounts/app-passwords/service.ts";
import { WrongAppPasswords } from "../../../../src/features/accounts/app-passwords/wrong-passwords.ts";
import { RateLimiter } from "../../../../src/features/accounts/rate-limits/limiter.ts";
import { PasswordHasher } from "../../../../src/features/accounts/users/passwords.ts";
import { UserService } from "../../../../src/features/accounts/users/service.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { TestTree } from "../../tree/support.ts";

let tree: TestTree;
let users: UserService;
let service: AppPasswordService;
let user: User;

beforeEach(async () => {
  tree = new TestTree();
  const { db, writer, clock } = tree;
  const events = new Events();
  const passwords = new PasswordHasher({ memoryCost: 8, timeCost: 1 });
  const createRoot = (tx: Parameters<typeof tree.write.createAccountRoot>[0], accountId: number) =>
    tree.write.createAccountRoot(tx, accountId);
  users = new UserService({ db, writer, clock, passwords, events, createRoot });
  user = await users.add({ email: "a@example.com", password: "correct horse", role: "user", plan: "free" });
  const wrongPasswords = new WrongAppPasswords({
    limiter: new RateLimiter({ db, writer, clock, log: silentLog }),
    clock,
  });
  service = new AppPasswordService({
    sqlite: db.sqlite,
    writer,
    clock,
    users,
    events,
    tree: tree.read,
    wrongPasswords,
  });
});

afterEach(() => tree.close());

const client = { address: "192.0.2.1", userAgent: "rclone" };

const headerOf = (password: string, username = "a@example.com") =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

const identify = (password: string, address = "192.0.2.1") =>
  service.identify(headerOf(password), { ...client, address }, address);

const create = async (input: Parameters<AppPasswordService["add"]>[0] = { name: "laptop" }) =>
  service.add(input, () => user);

/** Returns the reason of the error, or "none". */
function reasonOf(work: () => unknown): unknown {
  try {
    work();
    return "none";
  } catch (error) {
    return Object(error).reason;
  }
}

describe("the owner of an app password", () => {
  test("comes from memory until something about accounts changes", async () => {
    const { password, appPassword } = await create();
    expect(identify(password)).toMatchObject({
      user: { id: user.id, viaDeviceId: appPassword.deviceId },
      appPassword: { publicId: appPassword.publicId, canWrite: true, folderId: null },
    });
    await tree.writer.run(() => tree.db.sqlite.run("UPDATE app_passwords SET revoked_at = 1"));
    expect(identify(password).user.id).toBe(user.id);
    await users.update(user.id, { name: "New" });
    expect(reasonOf(() => identify(password))).toBe("bad_credentials");
  });

  test("is read again after another process changed something", async () => {
    const { password } = await create();
    identify(password);
    await tree.writer.run(() => tree.db.sqlite.run("UPDATE app_passwords SET revoked_at = 1"));
    service.dropCaches();
    expect(reasonOf(() => identify(password))).toBe("bad_credentials");
  });

  test("is confirmed against the database, not from memory", async () => {
    const { password } = await create();
    const principal = identify(password);
    expect(service.confirm(principal).appPassword.canWrite).toBe(true);
    await tree.writer.run(() => tree.db.sqlite.run("UPDATE users SET role = 'viewer'"));
    expect(service.confirm(principal).appPassword.canWrite).toBe(false);
    await tree.writer.run(() => tree.db.sqlite.run("UPDATE app_passwords SET revoked_at = 1"));
    expect(reasonOf(() => service.confirm(principal))).toBe("revoked_token");
  });

  test("is unknown from the instant of its end on, also in memory", async () => {
    const { password } = await create({ name: "x", expiresAtMs: tree.clock.nowMs() + 1_000 });
    const principal = identify(password);
    tree.clock.advance(999);
    expect(reasonOf(() => identify(password))).toBe("none");
    tree.clock.advance(1);
    expect(reasonOf(() => identify(password))).toBe("expired_token");
    expect(reasonOf(() => service.confirm(principal))).toBe("expired_token");
  });
});

describe("the last use", () => {
  test("is written once a minute", async () => {
    const { password } = await create();
    const lastUses = async () => {
      await tree.writer.run(() => undefined);
      return service.list(user.id).map(({ lastUsedAtMs, lastAddress }) => [lastUsedAtMs, lastAddress]);
    };
    const startedMs = tree.clock.nowMs();
    identify(password, "192.0.2.1");
    expect(await lastUses()).toEqual([[startedMs, "192.0.2.1"]]);
    tree.clock.advance(59_999);
    identify(password, "192.0.2.2");
    expect(await lastUses()).toEqual([[startedMs, "192.0.2.1"]]);
    tree.clock.advance(1);
    identify(password, "192.0.2.3");
    expect(await lastUses()).toEqual([[startedMs + 60_000, "192.0.2.3"]]);
  });
});

describe("wrong app passwords", () => {
  const wrong = "aaaaa-aaaaa-aaaaa-aaaaa-aaaaa-aaaaa";

  test("are limited to 20 a minute for an address and user name, which returns as they leave the window", () => {
    for (let count = 0; count < 20; count++) expect(reasonOf(() => identify(wrong))).toBe("bad_credentials");
    expect(reasonOf(() => identify(wrong))).toBe("rate_limited");
    expect(reasonOf(() => identify(wrong, "192.0.2.2"))).toBe("bad_credentials");
    tree.clock.advance(60_000);
    expect(reasonOf(() => identify(wrong))).toBe("bad_credentials");
  });

  test("delay no right password, also one that was never used", async () => {
    const { password } = await create();
    for (let count = 0; count < 20; count++) expect(reasonOf(() => identify(wrong))).toBe("bad_credentials");
    expect(reasonOf(() => identify(wrong))).toBe("rate_limited");
    expect(reasonOf(() => identify(password))).toBe("none");
  });

  test("do not count without credentials", () => {
    for (let count = 0; count < 100; count++) {
      expect(reasonOf(() => service.identify(null, client, "192.0.2.1"))).toBe("missing_token");
    }
    expect(reasonOf(() => identify(wrong))).toBe("bad_credentials");
  });
});

describe("records of ended app passwords", () => {
  test("are deleted after 90 days, and all but the last 100 at once", async () => {
    for (let count = 0; count < 3; count++) await create();
    await tree.writer.run((tx) => service.revokeAll(tx, user.id));
    expect(await service.sweep(10)).toBe(0);
    tree.clock.advance(90 * 86_400_000 + 1);
    expect(await service.sweep(2)).toBe(2);
    expect(await service.sweep(10)).toBe(1);
    tree.db.sqlite.run("DELETE FROM devices");
    for (let round = 0; round < 3; round++) {
      for (let count = 0; count < 40; count++) await create();
      await tree.writer.run((tx) => service.revokeAll(tx, user.id));
    }
    const countOf = (table: string) =>
      tree.db.sqlite.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count;
    expect([countOf("app_passwords"), countOf("devices")]).toEqual([100, 100]);
  });
});

describe("former emails", () => {
  test("stay for the last ten changes", async () => {
    for (let count = 0; count < 12; count++) {
      tree.clock.advance(1);
      await users.update(user.id, { email: `a${count}@example.com` });
    }
    const had = (email: string) => users.hadEmail(user.id, email);
    expect([had("a@example.com"), had("a0@example.com"), had("a1@example.com"), had("A10@example.com")]).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(had("a11@example.com")).toBe(false);
  });
});
