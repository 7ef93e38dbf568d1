/**
 * Web Push to browsers, through the push service that each browser names (RFC 8030), encrypted (8291), signed (8292).
 */
import { createECDH, createPublicKey } from "node:crypto";
import { StartupError } from "../../../../config/startup-error.ts";
import type { Clock } from "../../../../lib/clock.ts";
import type { Outbound } from "../../../../net/outbound.ts";
import type { DeliveryOutcome, PushChannel, PushMessage, PushTarget } from "./channel.ts";
import { isObject, parseObject } from "./json.ts";
import { outcomeOfFailure, outcomeOfStatus } from "./outcomes.ts";
import { encodeMessage, fit, isUrgent, shortKey, TTL_SECONDS } from "./payload.ts";

/** The key pair of this server, in base64url like all keys of the Push API. */
interface VapidKeys {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** The part of a browser's subscription that we need. */
interface Subscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** Dependencies of {@link WebPushChannel}. */
interface WebPushOptions {
  readonly outbound: Outbound;
  readonly clock: Clock;
  readonly keys: VapidKeys;
  /** The contact address for push services: a mailto: or https: URL. */
  readonly subject: string;
}

/** 4096 bytes of body, minus the header of RFC 8188 with a key (86), the tag (16) and the delimiter (1). */
const PLAINTEXT_BYTES_MAX = 4096 - 86 - 16 - 1;
const POINT_BYTES = 65;
const AUTH_BYTES = 16;
/** A topic is at most 32 characters of the URL-safe alphabet (RFC 8030 §5.4). */
const TOPIC_LENGTH_MAX = 32;

/** Sends messages to browsers. The payload is the message as JSON. */
export class WebPushChannel implements PushChannel {
  readonly name = "web-push";
  readonly #options: WebPushOptions;

  constructor(options: WebPushOptions) {
    this.#options = options;
  }

  /** The key that browsers subscribe with, in base64url. */
  get publicKey(): string {
    return this.#options.keys.publicKey;
  }

  async deliver({ token }: PushTarget, message: PushMessage, signal: AbortSignal): Promise<DeliveryOutcome> {
    const { outbound, clock } = this.#options;
    const subscription = parseSubscription(token);
    if (subscription === undefined) return { state: "gone", why: "the push token is not a valid subscription" };
    try {
      const { headers, body } = await this.#seal(subscription, message);
      const response = await outbound.send(subscription.endpoint, { method: "POST", headers, body, signal });
      return outcomeOfStatus(response, clock.nowMs());
    } catch (error) {
      return outcomeOfFailure(error, signal);
    }
  }

  /** Encrypts the message for the browser, and signs the request for the push service. */
  async #seal({ endpoint, keys }: Subscription, message: PushMessage) {
    // Loaded with the first message: most servers never send one, and loading it would slow down the start.
    const { default: webPush } = await import("web-push");
    const { keys: own, subject } = this.#options;
    const payload = fit(message, PLAINTEXT_BYTES_MAX, encodeMessage);
    const { cipherText } = webPush.encrypt(keys.p256dh, keys.auth, payload, "aes128gcm");
    const { origin } = new URL(endpoint);
    const { Authorization } = webPush.getVapidHeaders(origin, subject, own.publicKey, own.privateKey, "aes128gcm");
    const headers = {
      Authorization,
      TTL: String(TTL_SECONDS),
      Urgency: isUrgent(message) ? "high" : "normal",
      "Content-Type": "application/octet-stream",
      "Content-Encoding": "aes128gcm",
      ...(message.collapseKey !== undefined && { Topic: shortKey(message.collapseKey, TOPIC_LENGTH_MAX) }),
    };
    return { headers, body: cipherText };
  }
}

/**
 * The key pair of a 256-bit secret, which is the private key.
 * @throws StartupError if the secret is not a private key on P-256
 */
export function vapidKeysOf(secret: Uint8Array): VapidKeys {
  const curve = createECDH("prime256v1");
  try {
    curve.setPrivateKey(secret);
  } catch (error) {
    throw new StartupError(
      "The secret secrets/vapid.json is damaged: it does not contain a P-256 private key. Restore it from a backup, " +
        "or delete it; the next start creates a new one (browsers must subscribe again).",
      error,
    );
  }
  return {
    publicKey: curve.getPublicKey().toString("base64url"),
    privateKey: Buffer.from(secret).toString("base64url"),
  };
}

/** Whether a push token looks like a subscription: a JSON object, which no other token is. */
export function looksLikeSubscription(token: string): boolean {
  return /^\s*\{/.test(token);
}

/** Parses a browser's `JSON.stringify(subscription)`. @returns undefined for anything else, or if a key is invalid */
export function parseSubscription(token: string): Subscription | undefined {
  const subscription = parseObject(token);
  const keys = subscription?.["keys"];
  if (subscription === undefined || !isObject(keys)) return undefined;
  const { endpoint } = subscription;
  const p256dh = decodeKey(keys["p256dh"]);
  const auth = decodeKey(keys["auth"]);
  if (typeof endpoint !== "string" || URL.parse(endpoint) === null) return undefined;
  if (p256dh === undefined || !isPoint(p256dh) || auth?.byteLength !== AUTH_BYTES) return undefined;
  return { endpoint, keys: { p256dh: p256dh.toString("base64url"), auth: auth.toString("base64url") } };
}

/** Some browsers write standard base64 with padding instead of base64url. */
function decodeKey(text: unknown): Buffer | undefined {
  return typeof text === "string" && /^[A-Za-z0-9+/_-]+=*$/.test(text) ? Buffer.from(text, "base64url") : undefined;
}

/** Whether these bytes are an uncompressed point on P-256. A point off the curve would reveal the secret. */
function isPoint(bytes: Buffer): boolean {
  if (bytes.byteLength !== POINT_BYTES || bytes[0] !== 4) return false;
  const half = (POINT_BYTES - 1) / 2;
  const [x, y] = [bytes.subarray(1, 1 + half), bytes.subarray(1 + half)];
  try {
    createPublicKey({
      key: { kty: "EC", crv: "P-256", x: x.toString("base64url"), y: y.toString("base64url") },
      format: "jwk",
    });
    return true;
  } catch {
    // The error message depends on the version of the library, which throws for no other reason.
    return false;
  }
}
