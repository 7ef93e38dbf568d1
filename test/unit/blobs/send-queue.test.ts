import { expect, test } from "bun:test";
import { type Digest, toDigest } from "../../../src/blobs/digest.ts";
import { SendQueue, type SendQueueOptions } from "../../../src/features/storage/remote-store/send-queue.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { digestOf } from "../../support/client.ts";
import { eventually } from "../../support/expect.ts";

const digests = Array.from({ length: 40 }, (_, index) => toDigest(digestOf(String(index))));

function newQueue(send: SendQueueOptions["send"], options: Partial<SendQueueOptions> = {}): SendQueue {
  const queue = new SendQueue({
    sizeOf: () => 10,
    send,
    log: silentLog,
    gatherMs: 1,
    backoff: { firstMs: 1, maxMs: 1 },
    ...options,
  });
  queue.start();
  return queue;
}

test("every blob is sent once, four at a time", async () => {
  const sent: Digest[] = [];
  let [active, most] = [0, 0];
  const queue = newQueue(async (digest) => {
    most = Math.max(most, ++active);
    await Bun.sleep(1);
    active--;
    sent.push(digest);
  });
  for (const digest of digests) queue.add(digest);
  for (const digest of digests) queue.add(digest);
  await eventually("all are sent", () => sent.length === digests.length);
  expect(new Set(sent)).toEqual(new Set(digests));
  expect(most).toBe(4);
  await queue.close();
});

test("a large blob doesn't delay small ones", async () => {
  const [large, small] = [digests[0], digests[1]];
  const sent: (Digest | undefined)[] = [];
  const end = Promise.withResolvers<void>();
  const queue = newQueue(
    async (digest) => {
      if (digest === large) await end.promise;
      sent.push(digest);
    },
    { sizeOf: (digest) => (digest === large ? 5_000_000_000 : 10) },
  );
  if (large !== undefined) queue.add(large);
  await Bun.sleep(5);
  if (small !== undefined) queue.add(small);
  await eventually("the small one is sent", () => sent.length === 1);
  expect(sent).toEqual([small]);
  end.resolve();
  await eventually("the large one is sent", () => sent.length === 2);
  await queue.close();
});

test("after a failure one blob is tried, at growing intervals, and all are sent once that works", async () => {
  let isAway = true;
  let tries = 0;
  const sent = new Set<Digest>();
  const queue = newQueue(
    async (digest) => {
      tries++;
      if (isAway) throw new Error("away");
      sent.add(digest);
    },
    { backoff: { firstMs: 20, maxMs: 10_000 } },
  );
  for (const digest of digests) queue.add(digest);
  await eventually("it is tried a few times", () => tries >= 6);
  // The first four concurrently, then one at a time.
  const before = tries;
  for (const digest of digests) queue.add(digest);
  await Bun.sleep(5);
  expect(tries - before).toBeLessThanOrEqual(1);
  isAway = false;
  queue.retryNow();
  await eventually("all are sent", () => sent.size === digests.length);
  await queue.close();
});

test("a blob that was uploaded again is sent again, even if it is queued already", async () => {
  const [digest = toDigest(digestOf(""))] = digests;
  const forced: boolean[] = [];
  const queue = newQueue(async (_digest, isForced) => void forced.push(isForced));
  queue.add(digest);
  queue.add(digest, true);
  queue.add(digest);
  await eventually("it is sent", () => forced.length === 1);
  expect(forced).toEqual([true]);
  await queue.close();
});

test("nothing is sent after the close, nor before the start", async () => {
  const sent: Digest[] = [];
  const queue = new SendQueue({
    sizeOf: () => 10,
    send: async (digest) => void sent.push(digest),
    log: silentLog,
    gatherMs: 0,
  });
  for (const digest of digests) queue.add(digest);
  queue.start();
  await Bun.sleep(5);
  for (const digest of digests) queue.add(digest);
  await queue.close();
  await Bun.sleep(5);
  expect(sent).toEqual([]);
});
