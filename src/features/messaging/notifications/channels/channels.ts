/** All ways to devices that this server has, and which of them a push token belongs to. */
import type { SecretKey } from "../../../../config/secrets.ts";
import type { Config } from "../../../../config/settings.ts";
import { AppError, invalidField } from "../../../../errors.ts";
import type { Clock } from "../../../../lib/clock.ts";
import type { Outbound } from "../../../../net/outbound.ts";
import { type ApnsChannel, openApns } from "./apns.ts";
import type { PushChannel, PushTarget } from "./channel.ts";
import { type FcmChannel, openFcm } from "./fcm.ts";
import { looksLikeUrl, UrlChannel, withoutGaps } from "./url.ts";
import { looksLikeSubscription, parseSubscription, vapidKeysOf, WebPushChannel } from "./web-push.ts";

/** The longest push token that is taken, in bytes. */
export const TOKEN_BYTES_MAX = 4096;

/** The channels of one server. */
export interface PushChannelParts {
  readonly outbound: Outbound;
  readonly webPush: WebPushChannel;
  readonly url: UrlChannel;
  /** Undefined where the operator has configured none. */
  readonly fcm: FcmChannel | undefined;
  readonly apns: ApnsChannel | undefined;
}

/** Finds the channel for a push token. */
export class PushChannels {
  readonly #parts: PushChannelParts;
  /** Names of the channels that can be used, for apps to choose from. */
  readonly providers: readonly PushChannel["name"][];
  /** What a browser needs to subscribe: `applicationServerKey`, in base64url. */
  readonly vapidPublicKey: string;

  constructor(parts: PushChannelParts) {
    this.#parts = parts;
    const channels = [parts.fcm, parts.apns, parts.webPush, parts.url];
    this.providers = channels.filter((channel) => channel !== undefined).map(({ name }) => name);
    this.vapidPublicKey = parts.webPush.publicKey;
  }

  /**
   * The channel that a token belongs to: subscriptions of browsers and URLs by their form, whatever the platform;
   * others by the platform. Undefined where there is none: the device finds its messages in the inbox alone.
   */
  pick({ token, platform }: PushTarget): PushChannel | undefined {
    if (looksLikeSubscription(token)) return this.#parts.webPush;
    if (looksLikeUrl(token)) return this.#parts.url;
    switch (platform.trim().toLowerCase()) {
      case "android":
        return this.#parts.fcm;
      case "ios":
      case "ipados":
        return this.#parts.apns;
      default:
        return undefined;
    }
  }

  /**
   * Rejects a token that can never be delivered to, before it is kept.
   * @param field where in the request the token stands
   * @throws AppError invalid_field where its form is wrong, forbidden_target where it leads to where it must not
   */
  async checkToken(token: string, field: string): Promise<void> {
    const isPlain = token.trim() !== "" && !/\p{Cc}/u.test(withoutGaps(token));
    if (!isPlain || Buffer.byteLength(token) > TOKEN_BYTES_MAX) {
      throw invalidField(field, `${field} must be a push token of 1 to ${TOKEN_BYTES_MAX} bytes.`);
    }
    if (looksLikeSubscription(token)) {
      const subscription = parseSubscription(token);
      if (subscription === undefined) {
        throw invalidField(
          field,
          `${field} must contain endpoint, keys.p256dh and keys.auth. Send ` +
            "JSON.stringify(subscription) unchanged, as the browser returns it.",
        );
      }
      await this.#parts.outbound.checkTarget(subscription.endpoint, field);
    } else if (looksLikeUrl(token)) {
      await this.#parts.outbound.checkTarget(token.trim(), field);
    } else if (/^[a-z][a-z0-9+.-]*:\/\//i.test(withoutGaps(token))) {
      throw new AppError("forbidden_target", `The address in ${field} must begin with https://.`, { field });
    }
  }

  /** Closes the connections that are kept. Nothing may be delivered afterwards. */
  async close(): Promise<void> {
    await this.#parts.apns?.close();
  }
}

/** What the channels are made of. */
export interface PushChannelOptions {
  readonly config: Pick<Config, "push" | "publicUrl" | "adminEmail">;
  readonly vapid: SecretKey;
  readonly outbound: Outbound;
  readonly clock: Clock;
}

/**
 * Builds the channels that the configuration names; Web Push and URLs need none.
 * @throws StartupError naming the setting where a key is missing, unreadable or no such key
 */
export async function openPushChannels({ config, vapid, outbound, clock }: PushChannelOptions): Promise<PushChannels> {
  return new PushChannels({
    outbound,
    webPush: new WebPushChannel({ outbound, clock, keys: vapidKeysOf(vapid.secret), subject: subjectOf(config) }),
    url: new UrlChannel({ outbound, clock }),
    fcm: await openFcm({ settings: config.push.fcm, clock }),
    apns: await openApns({ settings: config.push.apns, clock }),
  });
}

/** Whom push services may turn to (RFC 8292 §2.1). Some refuse a subject that isn't https: or mailto:, or on localhost. */
function subjectOf({ push, publicUrl, adminEmail }: PushChannelOptions["config"]): string {
  if (push.vapidSubject !== null) return push.vapidSubject;
  const isPublic = publicUrl?.startsWith("https://") === true && new URL(publicUrl).hostname !== "localhost";
  if (publicUrl !== null && isPublic) return publicUrl;
  return adminEmail === null ? "mailto:larder@example.org" : `mailto:${adminEmail}`;
}
