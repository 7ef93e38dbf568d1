import { beforeEach, expect, test } from "bun:test";
import { migrate } from "../../../../src/db/migrate.ts";
import { openDatabase } from "../../../../src/db/open.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { AppError } from "../../../../src/errors.ts";
import { Events } from "../../../../src/events/events.ts";
import { RateLimitedError } from "../../../../src/features/accounts/rate-limits/headers.ts";
import { RateLimiter } from "../../../../src/features/accounts/rate-limits/limiter.ts";
import { LinkGuesses } from "../../../../src/features/sharing/shares/guesses.ts";
import { ShareRows } from "../../../../src/features/sharing/shares/queries.ts";
import type { OpenedShare } from "../../../../src/features/sharing/shares/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { TestClock } from "../../accounts/rate-limits/support.ts";
import { say } from "../../../../src/translations/say.ts";

const DAY = 24 * 3_600_000;
let t: ReturnType<typeof setUp>;
beforeEach(() => {
  t = setUp();
});

function setUp() {
  const db = openDatabase(":memory:");
  migrate(db.sqlite, silentLog);
  // Only the share is needed; its account and folder don't exist.
  db.sqlite.run("PRAGMA foreign_keys = OFF");
  const writer = new Writer(db.sqlite, silentLog);
  const clock = new TestClock();
  const rows = new ShareRows(db.sqlite);
  const events = new Events();
  let notices = 0;
  events.on("share.guessed", () => void notices++);
  const limiter = new RateLimiter({ db, writer, clock, log: silentLog });
  rows.insert(
    {
      publicId: "shr_1",
      accountId: 1,
      nodeId: 1,
      albumId: null,
      nonce: new Uint8Array(16),
      hash: new Uint8Array(32),
      createdAtMs: clock.ms,
      pinnedVersion: null,
      recipientId: null,
      groupId: null,
    },
    {
      kind: "link",
      label: null,
      expiresAtMs: null,
      passwordHash: "hash",
      maxDownloads: null,
      isPinned: false,
      hidesLocation: false,
      maxUploadBytes: null,
      maxUploadsPerAddress: null,
      canWrite: false,
      showsVersions: false,
      recipientEmailKey: null,
    },
  );
  const share = rows.find("shr_1");
  if (share === undefined) throw new Error("no share");
  // Only the node's name is used.
  const locked = { token: "t", share, node: { kind: "file", publicId: "file_1", name: "a" } } as unknown as OpenedShare;
  const guesses = new LinkGuesses({ rows, limiter, writer, events, clock });
  /** Tries a password. @returns "right", "wrong", or the seconds to wait */
  const attempt = async (address: string, isRight = false): Promise<string | number> => {
    try {
      return await guesses.guard(locked, address, () =>
        isRight ? Promise.resolve("right") : Promise.reject(new AppError("bad_credentials", say`wrong`)),
      );
    } catch (error) {
      if (error instanceof RateLimitedError) return Number(error.details["retryAfter"]);
      if (error instanceof AppError && error.reason === "bad_credentials") return "wrong";
      throw error;
    }
  };
  const tryWrong = async (count: number, address: (at: number) => string = (at) => `192.0.2.${at}`) => {
    for (let at = 0; at < count; at++) expect(await attempt(address(at))).toBe("wrong");
  };
  return { guesses, clock, attempt, tryWrong, notices: () => notices };
}

test("after 50 wrong attempts in an hour, new addresses wait for increasing times", async () => {
  // The limit per address alone did not protect a PIN of four digits from some hundred addresses.
  await t.tryWrong(50);
  const delays: (string | number)[] = [];
  for (let i = 0; i < 11; i++) {
    const seconds = await t.attempt(`198.51.100.${i}`);
    delays.push(seconds);
    t.clock.ms += Number(seconds) * 1000 - 1;
    expect(await t.attempt(`198.51.100.${i}`)).toBe(1);
    t.clock.ms += 1;
    expect(await t.attempt(`198.51.100.${i}`)).toBe("wrong");
  }
  expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  t.clock.ms += 300_000;
  expect(await t.attempt("203.0.113.1", true)).toBe("right");
});

test("the delay ends after an hour", async () => {
  await t.tryWrong(50);
  expect(await t.attempt("198.51.100.1")).toBe(1);
  t.clock.ms += 3_600_000;
  await t.tryWrong(49);
});

test("an address that opened the link within 30 days doesn't wait", async () => {
  expect(await t.attempt("203.0.113.1", true)).toBe("right");
  t.clock.ms += 29 * DAY;
  await t.tryWrong(50);
  expect(await t.attempt("203.0.113.1")).toBe("wrong");
  expect(await t.attempt("203.0.113.1", true)).toBe("right");
  expect(await t.attempt("203.0.113.2", true)).toBeNumber();
  // Opening it again restarts the 30 days.
  t.clock.ms += 29 * DAY;
  await t.tryWrong(50);
  expect(await t.attempt("203.0.113.1", true)).toBe("right");
  t.clock.ms += 31 * DAY;
  expect(await t.guesses.sweep(100)).toBe(1);
  await t.tryWrong(50);
  expect(await t.attempt("203.0.113.1", true)).toBeNumber();
});

test("concurrent attempts allow no more wrong ones than sequential attempts", async () => {
  const outcomes = await Promise.all(Array.from({ length: 100 }, (_, at) => t.attempt(`192.0.2.${at}`)));
  expect(outcomes.filter((outcome) => outcome === "wrong")).toHaveLength(50);
  t.clock.ms += 1_000;
  const later = await Promise.all(Array.from({ length: 10 }, (_, at) => t.attempt(`192.0.2.${at}`)));
  expect(later.filter((outcome) => outcome === "wrong")).toHaveLength(1);
});

test("the owner is notified once a day", async () => {
  await t.tryWrong(49);
  expect(t.notices()).toBe(0);
  await t.tryWrong(1);
  expect(t.notices()).toBe(1);
  t.clock.ms += DAY - 1;
  await t.tryWrong(50);
  expect(t.notices()).toBe(1);
  t.clock.ms += DAY;
  await t.tryWrong(50);
  expect(t.notices()).toBe(2);
});
