/** The payload of a push message, shortened to the 4 KiB that push services accept. */
import { createHash } from "node:crypto";
import type { PushMessage } from "./channel.ts";

/** How long a push service stores a message for a device that is off: a week. */
export const TTL_SECONDS = 7 * 24 * 60 * 60;

const TITLE_LENGTH_MAX = 200;

/** Whether a message may wake a sleeping device. */
export function isUrgent(message: PushMessage): boolean {
  return message.category === "security";
}

/** The JSON of a message that apps read: `{id, category, title, body, data}`. */
export function encodeMessage({ id, category, title, body, data }: PushMessage): string {
  return JSON.stringify({ id, category, title, body, data });
}

/**
 * Encodes a message in at most `bytesMax` bytes of UTF-8. Shortens the body first, then leaves out the data. The full
 * message is in the inbox, under its id.
 */
export function fit(message: PushMessage, bytesMax: number, encode: (message: PushMessage) => string): string {
  const titled = { ...message, title: shorten(message.title, TITLE_LENGTH_MAX) };
  return withShortBody(titled, bytesMax, encode) ?? withShortBody({ ...titled, data: {} }, bytesMax, encode) ?? "";
}

/** Shortens a key to `lengthMax` characters that are safe in URLs and headers: the key itself, or its digest. */
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
  // A character takes at least one byte, so a longer body can't fit.
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

/** The first `length` UTF-16 units; if the text is longer, the last one is an ellipsis. */
function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  // Don't leave half of a surrogate pair.
  return length === 0 ? "" : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
