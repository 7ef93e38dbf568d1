/**
 * Messages to a plain URL: a topic of ntfy, or an endpoint of UnifiedPush.
 *
 * ntfy (the default) shows messages to the user: the text as the body, title and priority as headers. UnifiedPush
 * passes the body unchanged to an app: the message as JSON, at most 4 KiB. Most URLs don't show which of the two they
 * are. A URL is UnifiedPush if the device registered with the platform `unifiedpush`, or if the URL has `up=1`. ntfy's
 * own app marks the endpoints for other apps with `up=1`.
 */
import type { Clock } from "../../../../lib/clock.ts";
import type { Outbound } from "../../../../net/outbound.ts";
import type { DeliveryOutcome, PushChannel, PushMessage, PushTarget } from "./channel.ts";
import { outcomeOfFailure, outcomeOfStatus } from "./outcomes.ts";
import { encodeMessage, fit, isUrgent, shortKey, TTL_SECONDS } from "./payload.ts";

/** ntfy turns longer bodies into attachments; UnifiedPush rejects them. */
const BODY_BYTES_MAX = 4096;
const TOPIC_LENGTH_MAX = 32;
/** The bytes that fit into an encoded word: at most 75 characters (RFC 2047 §2), 12 of which are delimiters. */
const ENCODED_WORD_BYTES = 45;

/** Sends messages by POST to the URL that a device registered. */
export class UrlChannel implements PushChannel {
  readonly name = "url";
  readonly #outbound: Outbound;
  readonly #clock: Clock;

  constructor({ outbound, clock }: { readonly outbound: Outbound; readonly clock: Clock }) {
    this.#outbound = outbound;
    this.#clock = clock;
  }

  async deliver(target: PushTarget, message: PushMessage, signal: AbortSignal): Promise<DeliveryOutcome> {
    const address = target.token.trim();
    const { headers, body } = isUnifiedPush(target.platform, address) ? forApp(message) : forPerson(message);
    try {
      const response = await this.#outbound.send(address, { method: "POST", headers, body: Buffer.from(body), signal });
      return outcomeOfStatus(response, this.#clock.nowMs());
    } catch (error) {
      return outcomeOfFailure(error, signal);
    }
  }
}

/** Whether a URL parser would accept the token, such as `https:example.org`. No other token starts like this. */
export function looksLikeUrl(token: string): boolean {
  return /^https?:/i.test(stripLineBreaks(token));
}

/** Removes line breaks and tabs, which URL parsers ignore. */
export function stripLineBreaks(token: string): string {
  return token.replaceAll(/[\t\r\n]/g, "").trim();
}

function isUnifiedPush(platform: string, address: string): boolean {
  return platform.trim().toLowerCase() === "unifiedpush" || URL.parse(address)?.searchParams.get("up") === "1";
}

/** UnifiedPush, with TTL, urgency and topic as in RFC 8030. */
function forApp(message: PushMessage) {
  const headers = {
    "Content-Type": "application/json",
    TTL: String(TTL_SECONDS),
    Urgency: isUrgent(message) ? "high" : "normal",
    ...(message.collapseKey !== undefined && { Topic: shortKey(message.collapseKey, TOPIC_LENGTH_MAX) }),
  };
  return { headers, body: fit(message, BODY_BYTES_MAX, encodeMessage) };
}

/** ntfy: https://docs.ntfy.sh/publish/ */
function forPerson(message: PushMessage) {
  const headers = {
    "Content-Type": "text/plain; charset=utf-8",
    Title: encodeHeader(message.title),
    Priority: isUrgent(message) ? "high" : "default",
    Tags: message.category,
  };
  // ntfy shows a message without a body as "triggered".
  const shown = message.body.trim() === "" ? { ...message, body: message.title } : message;
  return { headers, body: fit(shown, BODY_BYTES_MAX, ({ body }) => body) };
}

/** Encodes text as a header value: printable ASCII unchanged, other text as encoded words (RFC 2047). */
function encodeHeader(text: string): string {
  if (/^[\u0020-\u007e]*$/.test(text) && !text.includes("=?")) return text;
  const parts: string[] = [];
  let part = "";
  for (const character of text) {
    if (Buffer.byteLength(part + character) > ENCODED_WORD_BYTES) {
      parts.push(part);
      part = "";
    }
    part += character;
  }
  parts.push(part);
  return parts.map((word) => `=?UTF-8?B?${Buffer.from(word).toString("base64")}?=`).join(" ");
}
