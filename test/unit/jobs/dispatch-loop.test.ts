import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { Writer } from "../../../src/db/transaction.ts";
import { DispatchLoop } from "../../../src/jobs/dispatch-loop.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { silentLog } from "../../../src/lib/log.ts";

function openLoop(confirm: () => Promise<void>): DispatchLoop {
  const writer = new Writer(new Database(":memory:"), silentLog);
  writer.confirm = confirm;
  return new DispatchLoop({ writer, clock: systemClock, log: silentLog, what: "mails", startDue: () => undefined });
}

test("nothing is sent about a change that is not confirmed", async () => {
  const confirmed = Promise.withResolvers<void>();
  const loop = openLoop(() => confirmed.promise);
  const events: string[] = [];
  const sent = loop.begin(1, async () => void events.push("sent"));
  await new Promise(setImmediate);
  events.push("confirmed");
  confirmed.resolve();
  await sent;
  expect(events).toEqual(["confirmed", "sent"]);
});

test("an attempt whose row can't be confirmed is not made", async () => {
  const loop = openLoop(() => Promise.reject(new Error("The replica is away.")));
  let attempts = 0;
  const ended = loop.begin(1, async () => void attempts++);
  expect(loop.isInProgress(1)).toBe(true);
  await loop.close();
  await ended;
  expect(attempts).toBe(0);
});
