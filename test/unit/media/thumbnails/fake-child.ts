/*
 * A misbehaving child process. The first argument is its behavior:
 * - `hang` responds until it gets a path that ends with the second argument, and never again after that;
 * - `die` kills itself at the first two requests, which it counts in the file of the second argument, and then responds;
 * - `greedy` uses more and more memory;
 * - `fragile` exits before it is ready if sharp is allowed.
 */
import { appendFileSync, readFileSync } from "node:fs";
import type { FromChild, ToChild } from "../../../../src/features/media/thumbnails/protocol.ts";

const [behaviour, argument = ""] = process.argv.slice(2);
const hoard: Uint8Array[] = [];
let isHanging = false;
const send = (message: FromChild) => process.send?.(message);

process.on("disconnect", () => process.exit(0));
process.on("message", (message: ToChild) => {
  if (message.type === "configure") {
    if (behaviour === "fragile" && message.sharpRejection === undefined) process.exit(70);
    send({ type: "ready", status: { renderer: "bun", heic: false, ffmpeg: false } });
    return;
  }
  if (behaviour === "die") {
    appendFileSync(argument, "x");
    if (readFileSync(argument).length <= 2) process.kill(process.pid, "SIGKILL");
    send({ type: "failed", id: message.id, reason: "alive again", isContentFault: false });
  }
  isHanging ||= behaviour === "hang" && message.sourcePath.endsWith(argument);
  if (behaviour === "hang" && !isHanging) {
    send({ type: "failed", id: message.id, reason: "answered", isContentFault: false });
  }
  if (behaviour === "greedy") setInterval(() => hoard.push(new Uint8Array(32 * 1024 * 1024).fill(1)), 10);
});
send({ type: "hello" });
