/** What goes into a push message, and how it is made to fit: push services take 4 KiB at most. */
import { createHash } from "node:crypto";
import type { PushMessage } from "./channel.ts";

/** How long a push service keeps a message for a device that is switched off, in seconds: a week. */
export const TTL_SECONDS = 7 * 24 * 60 * 60;

const TITLE_LENGTH_MAX = 200;

/** Whether a message is worth waking a device for. */
export function isUrgent(message: PushMessage): boolean {
  return message.category === "security";
}

/** A message as apps read it: JSON of `{id, category, title, body, data}`. */
export function encodeMessage({ id, category, title, body, data }: PushMessage): string {
  return JSON.stringify({ id, category, title, body, data });
}

/**
 * What `encode` makes of a message, in at most `bytesMax` bytes of UTF-8: the body is shortened first, then the data
 * left out. The whole message is in the inbox, under its id.
 */
export function fit(message: PushMessage, bytesMax: number, encode: (message: PushMessage) => string): string {
  const titled = { ...message, title: shorten(message.title, TITLE_LENGTH_MAX) };
  return withShortBody(titled, bytesMax, encode) ?? withShortBody({ ...titled, data: {} }, bytesMax, encode) ?? "";
}

/** A key of at most `lengthMax` characters, all safe in URLs and headers: the key itself, or a digest of it. */
export function shortKey(key: string, lengthMax: number): string {
  const isSafe = key.length <= lengthMax && /^[A-Za-z0-9_-]+$/.test(key);
  return isSafe ? key : createHash("sha256").update(key).digest("base64url").slice(0, lengthMax);
}

function withShortBody(
  message: PushMessage,
  bytesMax: number,
  encode: (message: PushMessage) => string,
): string | undefined {
  const whole = encode(message);
  if (Buffer.byteLength(whole) <= bytesMax) return whole;
  let best: string | undefined;
  // Each character is at least a byte, so that longer bodies need not be tried.
  let [low, high] = [0, Math.min(message.body.length, bytesMax)];
  while (low <= high) {
    const length = (low + high) >> 1;
    const tried = encode({ ...message, body: shorten(message.body, length) });
    if (Buffer.byteLength(tried) <= bytesMax) {
      best = tried;
      low = length + 1;
    } else high = length - 1;
  }
  return best;
}

/** The first `length` characters, with an ellipsis in the place of the last one where something is cut off. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  // Half of a character that takes two units is none.
  return length === 0 ? "" : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
