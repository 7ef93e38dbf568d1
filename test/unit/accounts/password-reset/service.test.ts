import { afterEach, beforeEach, expect, test } from "bun:test";
import { Events } from "../../../../src/events/events.ts";
import { PasswordHasher } from "../../../../src/features/accounts/users/passwords.ts";
import { MailOutbox } from "../../../../src/features/accounts/mail/outbox.ts";
import { MailService } from "../../../../src/features/accounts/mail/service.ts";
import { PasswordReset } from "../../../../src/features/accounts/password-reset/service.ts";
import { UserService } from "../../../../src/features/accounts/users/service.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { eventually } from "../../../support/expect.ts";
import { TestTree } from "../../tree/support.ts";

const MINUTE_MS = 60_000;

let tree: TestTree;
let users: UserService;
let resets: PasswordReset;
let ada: User;
let endedSessionsOf: number[];

beforeEach(async () => {
  tree = new TestTree();
  const { db, writer, clock } = tree;
  const events = new Events();
  users = new UserService({
    db,
    writer,
    clock,
    passwords: new PasswordHasher({ memoryCost: 8, timeCost: 1 }),
    events,
    createRoot: (tx, accountId) => tree.write.createAccountRoot(tx, accountId),
  });
  const outbox = new MailOutbox(db.sqlite);
  const mail = new MailService({
    outbox,
    clock,
    log: silentLog,
    senderDomain: () => "example.test",
    onQueued: () => {},
  });
  endedSessionsOf = [];
  resets = new PasswordReset({
    sqlite: db.sqlite,
    writer,
    clock,
    log: silentLog,
    users,
    credentialRevoker: { revokeAll: () => {} },
    auth: { endSessions: (_tx, userId) => void endedSessionsOf.push(userId) },
    events,
    mail,
    publicUrl: "https://files.example.test",
  });
  ada = await users.add({ email: "ada@example.test", password: "correct horse", role: "user", plan: "free" });
});

afterEach(() => tree.close());

const issue = (userId: number) => tree.writer.run((tx) => resets.issue(tx, userId));

const count = (table: "reset_requests" | "mails" | "password_resets") =>
  tree.db.sqlite.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0;

/** Requests a link, and waits until the request was processed. */
async function request(email: string): Promise<void> {
  await resets.request(email);
  await eventually("the request is processed", () => count("reset_requests") === 0);
}

test("a link works for exactly 30 minutes", async () => {
  const token = await issue(ada.id);
  tree.clock.advance(30 * MINUTE_MS - 1);
  expect(resets.isOpen(token)).toBe(true);
  tree.clock.advance(1);
  expect(resets.isOpen(token)).toBe(false);
  await expect(resets.reset(token, "a new password", false)).rejects.toThrow("This link is not valid or has expired");
  expect(endedSessionsOf).toEqual([]);
  expect(await tree.writer.run(() => resets.sweep(10))).toBe(1);
});

test("a link replaced while the password is hashed changes nothing", async () => {
  const token = await issue(ada.id);
  const before = users.findCredentials(ada.email)?.passwordHash;
  const rejection = resets.reset(token, "a new password", false).catch((error: unknown) => error);
  await issue(ada.id);
  expect(await rejection).toBeInstanceOf(Error);
  expect(users.findCredentials(ada.email)?.passwordHash).toBe(before ?? "");
  expect(endedSessionsOf).toEqual([]);
});

test("the table contains neither the token nor the link", async () => {
  const token = await issue(ada.id);
  const [row] = tree.db.sqlite.query<Record<string, unknown>, []>("SELECT * FROM password_resets").all();
  expect(JSON.stringify(row)).not.toContain(token);
});

test("a disabled or missing account gets no link", async () => {
  await users.update(ada.id, { isDisabled: true });
  await expect(issue(ada.id)).rejects.toThrow("This account is disabled");
  await expect(issue(4_711)).rejects.toThrow("no longer exists");
  await request(ada.email);
  await request("nobody@example.test");
  expect([count("mails"), count("password_resets")]).toEqual([0, 0]);
});

test("an account gets three mails within the lifetime of a link, so that others can't block its requests", async () => {
  for (let times = 0; times < 5; times++) {
    await request(ada.email);
    tree.db.sqlite.run("UPDATE mails SET state = 'sent', finished_at = 1 WHERE finished_at IS NULL");
    tree.clock.advance(MINUTE_MS);
  }
  expect(count("mails")).toBe(3);
  // When another link can be requested, the last one, sent two minutes after the first, is still valid.
  tree.clock.advance(25 * MINUTE_MS);
  const [link] = tree.db.sqlite.query<{ expires_at: number }, []>("SELECT expires_at FROM password_resets").all();
  expect(link?.expires_at).toBe(tree.clock.nowMs() + 2 * MINUTE_MS);
  await request(ada.email);
  expect(count("mails")).toBe(4);
});

test("a newer mail replaces an earlier one that is still queued", async () => {
  await request(ada.email);
  await request(ada.email);
  expect(count("mails")).toBe(1);
});

test("a flood of requests leaves no data behind", async () => {
  tree.db.sqlite.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
     INSERT INTO reset_requests SELECT 'user' || i || '@example.test', 0 FROM n`,
  );
  const requests = resets.request("one-more@example.test");
  await requests;
  await eventually("all requests are processed", () => count("reset_requests") === 0);
  expect(count("mails")).toBe(0);
});
