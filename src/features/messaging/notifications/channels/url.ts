/**
 * Messages to a plain URL: a topic of ntfy, or an endpoint of UnifiedPush.
 *
 * ntfy (the default) shows what it is sent to a person: the text as the body, title and priority as headers. UnifiedPush
 * hands the body to an app as it is: the message as JSON, in 4 KiB. Which of them a URL is can't be seen from most;
 * it is UnifiedPush where the device registered with the platform `unifiedpush`, or the URL has `up=1`, by which ntfy's
 * own app marks the endpoints that it gives to other apps.
 */
import type { Clock } from "../../../../lib/clock.ts";
import type { Outbound } from "../../../../net/outbound.ts";
import type { DeliveryOutcome, PushChannel, PushMessage, PushTarget } from "./channel.ts";
import { outcomeOfFailure, outcomeOfStatus } from "./outcomes.ts";
import { encodeMessage, fit, isUrgent, shortKey, TTL_SECONDS } from "./payload.ts";

/** Longer bodies become an attachment in ntfy; UnifiedPush takes no more. */
const BODY_BYTES_MAX = 4096;
const TOPIC_LENGTH_MAX = 32;
/** An encoded word is at most 75 characters (RFC 2047 §2), of which 12 are its frame; so many bytes fit into the rest. */
const ENCODED_WORD_BYTES = 45;

/** Delivers by POST to the URL that a device gave. */
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
      const answer = await this.#outbound.send(address, { method: "POST", headers, body: Buffer.from(body), signal });
      return outcomeOfStatus(answer, this.#clock.nowMs());
    } catch (error) {
      return outcomeOfFailure(error, signal);
    }
  }
}

/** Also what only a reader of URLs takes for one, such as `https:example.org`. No other token begins so. */
export function looksLikeUrl(token: string): boolean {
  return /^https?:/i.test(withoutGaps(token));
}

/** A text as readers of URLs see its beginning: they pass over line breaks and tabs. */
export function withoutGaps(token: string): string {
  return token.replaceAll(/[\t\r\n]/g, "").trim();
}

function isUnifiedPush(platform: string, address: string): boolean {
  return platform.trim().toLowerCase() === "unifiedpush" || URL.parse(address)?.searchParams.get("up") === "1";
}

/** UnifiedPush: what RFC 8030 says of TTL, urgency and topic holds here too. */
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
  // A message without a body would be shown as "triggered".
  const shown = message.body.trim() === "" ? { ...message, body: message.title } : message;
  return { headers, body: fit(shown, BODY_BYTES_MAX, ({ body }) => body) };
}

/** Text as the value of a header: as it is where it is printable ASCII, else in encoded words (RFC 2047). */
function encodeHeader(text: string): string {
  if (/^[\u0020-\u007e]*$/.test(text) && !text.includes("=?")) return text;
  const words: string[] = [];
  let word = "";
  for (const character of text) {
    if (Buffer.byteLength(word + character) > ENCODED_WORD_BYTES) {
      words.push(word);
      word = "";
    }
    word += character;
  }
  words.push(word);
  return words.map((part) => `=?UTF-8?B?${Buffer.from(part).toString("base64")}?=`).join(" ");
}
