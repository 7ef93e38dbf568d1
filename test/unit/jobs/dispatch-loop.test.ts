import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { Writer } from "../../../src/db/transaction.ts";
import { DispatchLoop } from "../../../src/jobs/dispatch-loop.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLog } from "../../../src/lib/log.ts";

test("nothing is sent about a change that is not confirmed", async () => {
  const writer = new Writer(new Database(":memory:"), silentLog);
  const confirmed = Promise.withResolvers<void>();
  writer.confirm = () => confirmed.promise;
  const loop = new DispatchLoop({
    writer,
    clock: systemClock,
    log: silentLog,
    what: "mails",
    startDue: () => undefined,
  });
  const events: string[] = [];
  const sent = loop.begin(1, async () => void events.push("sent"));
  await new Promise(setImmediate);
  events.push("confirmed");
  confirmed.resolve();
  await sent;
  expect(events).toEqual(["confirmed", "sent"]);
});

test("an attempt whose row can't be confirmed is not made", async () => {
  const writer = new Writer(new Database(":memory:"), silentLog);
  writer.confirm = () => Promise.reject(new Error("The replica is away."));
  const loop = new DispatchLoop({
    writer,
    clock: systemClock,
    log: silentLog,
    what: "mails",
    startDue: () => undefined,
  });
  let attempts = 0;
  const ended = loop.begin(1, async () => void attempts++);
  expect(loop.isInProgress(1)).toBe(true);
  await loop.close();
  await ended;
  expect(attempts).toBe(0);
});
