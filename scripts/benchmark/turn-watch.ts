/**
 * Loaded into a measured server (BUN_OPTIONS=--preload): appends the long turns of its event loop to TURNS_FILE, one
 * per line: its end in milliseconds since 1970, and its length in milliseconds. A turn is seen by the delay of a timer,
 * so its length can be up to INTERVAL_MS longer.
 */
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const INTERVAL_MS = 2;
const SHORTEST_MS = 4;

const file = process.env.TURNS_FILE;
// Processes that the server starts have the same environment.
const isServer = isMainThread && process.argv.includes("serve");
if (file !== undefined && isServer) {
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    const turnMs = now - last - INTERVAL_MS;
    last = now;
    if (turnMs >= SHORTEST_MS) appendFileSync(file, `${Date.now()} ${turnMs.toFixed(1)}\n`);
  }, INTERVAL_MS).unref();
}
