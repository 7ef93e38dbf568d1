/**
 * Loaded into a measured server (BUN_OPTIONS=--preload): appends the long turns of its event loop to TURNS_FILE, one
 * per line: its end in milliseconds since 1970, and its length in milliseconds. A turn is seen by the delay of a timer,
 * so its length can be up to INTERVAL_MS longer. Time in which the thread waited for a processor is no part of it, as
 * the clients of a real server don't run on its machine.
 */
import { appendFileSync, openSync, readSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const INTERVAL_MS = 2;
const SHORTEST_MS = 4;
const NANOSECONDS_PER_MS = 1e6;

const file = process.env.TURNS_FILE;
// Processes that the server starts have the same environment.
const isServer = isMainThread && process.argv.includes("serve");
if (file !== undefined && isServer) {
  // The main thread's time on a processor, its time waiting for one, and its number of time slices.
  const statistics = openSync("/proc/self/schedstat", "r");
  const buffer = Buffer.alloc(128);
  const readWaitMs = () => {
    const length = readSync(statistics, buffer, 0, buffer.length, 0);
    return Number(buffer.toString("latin1", 0, length).split(" ")[1]) / NANOSECONDS_PER_MS;
  };
  let last = performance.now();
  let lastWaitMs = readWaitMs();
  setInterval(() => {
    const now = performance.now();
    const waitMs = readWaitMs();
    const turnMs = now - last - INTERVAL_MS - (waitMs - lastWaitMs);
    last = now;
    lastWaitMs = waitMs;
    if (turnMs >= SHORTEST_MS) appendFileSync(file, `${Date.now()} ${turnMs.toFixed(1)}\n`);
  }, INTERVAL_MS).unref();
}
