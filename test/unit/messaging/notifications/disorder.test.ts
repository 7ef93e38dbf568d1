// Failures, restarts, quiet hours and new tokens in random order. Each failed assertion shows the seed.
import { expect, test } from "bun:test";
import type { DeliveryOutcome } from "../../../../src/features/messaging/notifications/channels/channel.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { notificationBench } from "./support.ts";

const MINUTE_MS = 60_000;
const DEVICES = ["a", "b", "c"];

function outcomeOf(chance: number): DeliveryOutcome {
  if (chance < 0.5) return { state: "delivered" };
  if (chance < 0.6) return { state: "rejected", why: "400" };
  if (chance < 0.7) return { state: "retry", why: "429", afterMs: 5 * MINUTE_MS };
  return { state: "retry", why: "503" };
}

async function play(seed: number) {
  const random = seededRandom(seed).fraction;
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const bench = notificationBench();
  const ann = bench.account();
  for (const name of DEVICES) await bench.reachable(ann, `${name}0`);
  bench.dispatcher.start();
  /** Numbers of the messages that each device received, in order. */
  const received = new Map<string, number[]>(DEVICES.map((name) => [name, []]));
  bench.channels.reply = ({ token }, { body }) => {
    const outcome = outcomeOf(random());
    if (outcome.state === "delivered") received.get(token.charAt(0))?.push(Number(body));
    return outcome;
  };
  let sent = 0;
  for (let step = 0; step < 120; step++) {
    const name = pick(DEVICES) ?? "a";
    const deviceId = `${name}0`;
    const chance = random();
    if (chance < 0.5) await bench.push(ann, String(++sent));
    else if (chance < 0.6) await bench.restart();
    else if (chance < 0.7) {
      await bench.notifications.register(ann, { deviceId, pushToken: `${name}${step}` });
    } else if (chance < 0.8) {
      const quietHours = { enabled: random() < 0.7, start: pick(["00:00", "04:00", "22:00"]), end: "06:00" };
      await bench.notifications.register(ann, { deviceId, preferences: { quietHours } });
    } else bench.clock.ms += Math.floor(random() * 90 * MINUTE_MS);
    bench.dispatcher.wake();
    if (random() < 0.5) await bench.idle();
  }
  // From here on every attempt succeeds.
  const reply = bench.channels.reply;
  bench.channels.reply = (target, message) => {
    const outcome = reply(target, message);
    if (outcome?.state === "delivered") return outcome;
    received.get(target.token.charAt(0))?.push(Number(message.body));
    return { state: "delivered" };
  };
  for (let hours = 0; hours < 50; hours++) {
    bench.clock.ms += 60 * MINUTE_MS;
    bench.dispatcher.wake();
    await bench.idle();
  }
  await bench.dispatcher.close();
  return { bench, received, sent };
}

test("despite failures no message stays in the queue, and none is delivered out of order", async () => {
  for (const seed of seedsToRun([1, 2, 3, 4])) {
    const { bench, received, sent } = await play(seed);
    const states = bench.states();
    expect({ seed, states: states.length }).toEqual({ seed, states: sent * DEVICES.length });
    expect({ seed, waiting: states.filter((state) => state === "queued" || state === "held") }).toEqual({
      seed,
      waiting: [],
    });
    for (const [name, numbers] of received) {
      // After a restart, a message may be sent twice, but before the next one.
      const inOrder = numbers.toSorted((a, b) => a - b);
      expect({ seed, name, numbers }).toEqual({ seed, name, numbers: inOrder });
    }
  }
});
