import { expect, test } from "bun:test";
import { MailDispatcher } from "../../../../src/features/accounts/mail/dispatcher.ts";
import { MailOutbox } from "../../../../src/features/accounts/mail/outbox.ts";
import { MailService } from "../../../../src/features/accounts/mail/service.ts";
import { openSmtp } from "../../../../src/features/accounts/mail/smtp.ts";
import type { MailOutcome, StoredMail } from "../../../../src/features/accounts/mail/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { eventually } from "../../../support/expect.ts";
import { MailServer } from "../../../support/mail-server.ts";
import { memoryDatabase, TestClock } from "../rate-limits/support.ts";

const HOUR_MS = 60 * 60_000;

/** Opens an outbox in memory, and a mail server with the given behavior. */
function mailBench(deliver?: (mail: StoredMail) => Promise<MailOutcome>) {
  const { db, writer } = memoryDatabase();
  const clock = new TestClock();
  const outbox = new MailOutbox(db.sqlite);
  const attempts: StoredMail[] = [];
  const outcomes: MailOutcome[] = [];
  const transport = {
    deliver: async (mail: StoredMail): Promise<MailOutcome> => {
      attempts.push(mail);
      return deliver === undefined ? (outcomes.shift() ?? { state: "sent" }) : deliver(mail);
    },
    probe: async () => undefined,
  };
  const dispatcher = new MailDispatcher({ outbox, writer, clock, log: silentLog, transport: () => transport });
  const onQueued = () => dispatcher.wake();
  const mail = new MailService({ outbox, clock, log: silentLog, senderDomain: () => "example.test", onQueued });
  const send = (to: string, text: string, usefulMs?: number) =>
    writer.run((tx) => mail.send(tx, { to, subject: text, text, ...(usefulMs !== undefined && { usefulMs }) }));
  const states = () =>
    db.sqlite
      .query<{ state: string }, []>("SELECT state FROM mails ORDER BY id")
      .all()
      .map(({ state }) => state);
  /** Sends all due mails. */
  const recordOutcome = async () => {
    dispatcher.wake();
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  };
  return { db, clock, writer, outbox, attempts, outcomes, dispatcher, mail, send, states, recordOutcome };
}

test("mails to one recipient are sent in order, even after a failure; others don't wait for them", async () => {
  const bench = mailBench();
  bench.outcomes.push({ state: "retry", why: "451" });
  await bench.send("ann@example.test", "first");
  await bench.send("ann@example.test", "second");
  await bench.send("bob@example.test", "other");
  bench.dispatcher.start();
  await bench.recordOutcome();
  expect(bench.attempts.map(({ subject }) => subject).toSorted()).toEqual(["first", "other"]);
  await bench.send("ANN@example.test", "third");
  await bench.recordOutcome();
  expect(bench.attempts).toHaveLength(2);
  bench.clock.ms += 60_000;
  await bench.recordOutcome();
  expect(bench.attempts.slice(2).map(({ subject }) => subject)).toEqual(["first", "second", "third"]);
  expect(bench.states()).toEqual(["sent", "sent", "sent", "sent"]);
});

test("a permanently rejected mail is not retried, and its text is deleted", async () => {
  const bench = mailBench();
  bench.outcomes.push({ state: "refused", why: "550" });
  await bench.send("ann@example.test", "lost");
  await bench.send("ann@example.test", "next");
  bench.dispatcher.start();
  await bench.recordOutcome();
  expect(bench.states()).toEqual(["refused", "sent"]);
  expect(bench.db.sqlite.query("SELECT text, html FROM mails WHERE text <> '' OR html <> ''").all()).toEqual([]);
});

test("an unreachable server is tried rarely, with one mail at a time; then all are sent", async () => {
  const bench = mailBench();
  for (let count = 0; count < 5; count++) await bench.send(`user${count}@example.test`, `mail ${count}`);
  bench.outcomes.push(...Array.from({ length: 3 }, () => ({ state: "unreachable", why: "ECONNECTION" }) as const));
  bench.dispatcher.start();
  await bench.recordOutcome();
  expect(bench.attempts).toHaveLength(3);
  await bench.recordOutcome();
  expect(bench.attempts).toHaveLength(3);
  bench.outcomes.push({ state: "unreachable", why: "ECONNECTION" });
  bench.clock.ms += 60_000;
  await bench.recordOutcome();
  // The attempt moves on to the next mail.
  expect(bench.attempts.slice(3).map(({ subject }) => subject)).toEqual(["mail 3"]);
  bench.clock.ms += 60_000;
  await bench.recordOutcome();
  expect(bench.states()).toEqual(["sent", "sent", "sent", "sent", "sent"]);
});

test("a mail that makes the server disconnect delays others only by its own attempts", async () => {
  const bench = mailBench(async ({ subject }) =>
    subject === "poison" ? { state: "unreachable", why: "ESOCKET" } : { state: "sent" },
  );
  await bench.send("ann@example.test", "poison");
  bench.dispatcher.start();
  await bench.recordOutcome();
  for (let count = 0; count < 5; count++) await bench.send(`user${count}@example.test`, `mail ${count}`);
  for (let minutes = 0; minutes < 30; minutes++) {
    bench.clock.ms += 60_000;
    await bench.recordOutcome();
  }
  expect(bench.states()).toEqual(["waiting", "sent", "sent", "sent", "sent", "sent"]);
});

test("a mail is retried for 48 hours, or until it is no longer useful", async () => {
  const bench = mailBench(async () => ({ state: "retry", why: "451" }));
  await bench.send("ann@example.test", "long");
  await bench.send("bob@example.test", "short", HOUR_MS / 2);
  bench.dispatcher.start();
  await bench.recordOutcome();
  bench.clock.ms += HOUR_MS / 2;
  await bench.recordOutcome();
  expect(bench.states()).toEqual(["waiting", "expired"]);
  for (let hours = 1; hours < 47; hours++) {
    bench.clock.ms += HOUR_MS;
    await bench.recordOutcome();
  }
  expect(bench.states()[0]).toBe("waiting");
  bench.clock.ms += 2 * HOUR_MS;
  await bench.recordOutcome();
  expect(bench.states()[0]).toBe("expired");
  expect(bench.attempts.length).toBeGreaterThan(40);
});

test("a mail queued while the clock was ahead doesn't wait for that time", async () => {
  const bench = mailBench();
  bench.clock.ms += 1_000 * HOUR_MS;
  await bench.send("ann@example.test", "early");
  bench.clock.ms -= 1_000 * HOUR_MS;
  bench.dispatcher.start();
  await bench.recordOutcome();
  expect(bench.states()).toEqual(["sent"]);
});

test("an address gets at most twenty mails of a kind per hour; without mail settings, nothing is queued", async () => {
  const bench = mailBench();
  const sent: boolean[] = [];
  for (let count = 0; count < 21; count++) sent.push(await bench.send("ann@example.test", "again"));
  expect(sent.filter(Boolean)).toHaveLength(20);
  const other = { to: "ann@example.test", subject: "s", text: "t", kind: "password-reset" } as const;
  expect(await bench.writer.run((tx) => bench.mail.send(tx, other))).toBe(true);
  bench.clock.ms += HOUR_MS;
  expect(await bench.send("ann@example.test", "an hour later")).toBe(true);
  const { outbox, clock } = bench;
  const none = new MailService({ outbox, clock, log: silentLog, senderDomain: () => undefined, onQueued: () => {} });
  expect(none.isConfigured).toBe(false);
  expect(await bench.writer.run((tx) => none.send(tx, { to: "bob@example.test", subject: "s", text: "t" }))).toBe(
    false,
  );
  expect(bench.states()).toHaveLength(22);
});

test("a mail in progress at shutdown is finished, and no other starts", async () => {
  const { promise, resolve } = Promise.withResolvers<MailOutcome>();
  const bench = mailBench(() => promise);
  await bench.send("ann@example.test", "first");
  await bench.send("ann@example.test", "second");
  bench.dispatcher.start();
  await bench.recordOutcome();
  const closed = bench.dispatcher.close();
  resolve({ state: "sent" });
  await closed;
  await bench.recordOutcome();
  expect(bench.attempts).toHaveLength(1);
  expect(bench.states()).toEqual(["sent", "waiting"]);
});

test("a rolled-back transaction sends nothing", async () => {
  const bench = mailBench();
  bench.dispatcher.start();
  const undone = bench.writer.run((tx) => {
    bench.mail.send(tx, { to: "ann@example.test", subject: "s", text: "t" });
    throw new Error("undone");
  });
  await expect(undone).rejects.toThrow("undone");
  await bench.recordOutcome();
  expect(bench.attempts).toEqual([]);
});

test("finished mails are deleted after a week", async () => {
  const bench = mailBench();
  await bench.send("ann@example.test", "sent");
  bench.dispatcher.start();
  await bench.recordOutcome();
  const sweep = () => bench.writer.run((tx) => bench.mail.sweep(tx, 100));
  expect(await sweep()).toBe(0);
  bench.clock.ms += 8 * 24 * HOUR_MS;
  expect(await sweep()).toBe(1);
});

test("over SMTP, greylisted mails are retried, subjects contain no line breaks, and only codes are logged", async () => {
  const server = new MailServer();
  await server.start();
  try {
    const mail = {
      host: "127.0.0.1",
      port: server.port,
      secure: "none" as const,
      user: null,
      password: null,
      passwordFile: null,
      caFile: null,
      from: "larder@example.test",
      verify: false,
    };
    const smtp = openSmtp({ mail, publicUrl: "http://files.example.test" });
    if (smtp === undefined) throw new Error("no transport");
    expect(await smtp.probe()).toBeUndefined();
    const bench = mailBench((stored) => smtp.deliver(stored));
    server.behaviors = [
      { status: 450, at: "recipient" },
      { status: 451, at: "data" },
    ];
    await bench.send("ann@example.test", "Hello\r\nBcc: eve@example.test\r\n\r\nbody");
    bench.dispatcher.start();
    await eventually("the first attempt", () => bench.outbox.due(bench.clock.nowMs(), 1).length === 0);
    bench.clock.ms += 60_000;
    bench.dispatcher.wake();
    await eventually("the second attempt", () => server.attempts.length === 2);
    await eventually("it was noted", () => bench.outbox.due(bench.clock.nowMs(), 1).length === 0);
    const errors = bench.db.sqlite.query<{ why: string }, []>("SELECT last_error AS why FROM mails").all();
    expect(errors[0]?.why).toBe("EMESSAGE 451 4.1.1");
    bench.clock.ms += 2 * 60_000;
    bench.dispatcher.wake();
    const [taken] = await server.waitForMails(1);
    expect(taken?.to).toEqual(["ann@example.test"]);
    expect(taken?.parsed.subject).toBe("Hello Bcc: eve@example.test body");
    expect(taken?.parsed.bcc).toBeUndefined();
    await eventually("it is done", () => bench.states()[0] === "sent");
    await bench.dispatcher.close();
    await server.stop();
    expect(await smtp.probe()).toStartWith("E");
  } finally {
    await server.stop();
  }
});

test("one account causes at most 500 mails within a day, and all of them at most half of the queue", async () => {
  const bench = mailBench();
  const cause = (causedBy: number | undefined, count: number) =>
    bench.writer.run((tx) => {
      const results = Array.from({ length: count }, (_, index) => {
        const mail = { to: `u${index}@example.test`, subject: "shared", text: "x", kind: "share-received" } as const;
        return bench.mail.send(tx, causedBy === undefined ? { ...mail, kind: "invite" } : { ...mail, causedBy });
      });
      return results.filter(Boolean).length;
    });
  expect(await cause(1, 600)).toBe(500);
  expect(await cause(2, 10)).toBe(10);
  bench.clock.ms += 25 * HOUR_MS;
  expect(await cause(1, 1)).toBe(1);
  for (let account = 3; account < 12; account++) await cause(account, 500);
  expect(bench.outbox.waiting()).toBe(5_000);
  expect(await cause(50, 1)).toBe(0);
  expect(await cause(undefined, 1)).toBe(1);
});
