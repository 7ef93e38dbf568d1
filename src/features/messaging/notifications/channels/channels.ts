/** The push channels of this server, and the choice of one for a push token. */
import type { SecretKey } from "../../../../config/secrets.ts";
import type { Config } from "../../../../config/settings.ts";
import { AppError, invalidField } from "../../../../errors.ts";
import type { Clock } from "../../../../lib/clock.ts";
import type { Outbound } from "../../../../net/outbound.ts";
import { say } from "../../../../translations/say.ts";
import { type ApnsChannel, openApns } from "./apns.ts";
import type { PushChannel, PushTarget } from "./channel.ts";
import { type FcmChannel, openFcm } from "./fcm.ts";
import { looksLikeUrl, stripLineBreaks, UrlChannel } from "./url.ts";
import { looksLikeSubscription, parseSubscription, vapidKeysOf, WebPushChannel } from "./web-push.ts";

/** The longest accepted push token. */
export const TOKEN_BYTES_MAX = 4096;

/** The channels of one server. */
interface PushChannelParts {
  readonly outbound: Outbound;
  readonly webPush: WebPushChannel;
  readonly url: UrlChannel;
  /** Undefined if the operator has not configured it. */
  readonly fcm: FcmChannel | undefined;
  readonly apns: ApnsChannel | undefined;
}

/** Finds the channel for a push token. */
export class PushChannels {
  readonly #parts: PushChannelParts;
  /** Names of the available channels, for apps to choose from. */
  readonly providers: readonly PushChannel["name"][];
  /** The `applicationServerKey` that a browser needs to subscribe, in base64url. */
  readonly vapidPublicKey: string;

  constructor(parts: PushChannelParts) {
    this.#parts = parts;
    const channels = [parts.fcm, parts.apns, parts.webPush, parts.url];
    this.providers = channels.filter((channel) => channel !== undefined).map(({ name }) => name);
    this.vapidPublicKey = parts.webPush.publicKey;
  }

  /**
   * The channel of a token. Browser subscriptions and URLs are recognized by their form, on any platform; for other
   * tokens the platform decides. If it is undefined, the messages of the device are only in the inbox.
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
   * Rejects a token that can never work, before it is stored.
   * @param field the field of the request that contains the token
   * @throws AppError invalid_field if its form is wrong, forbidden_target if its address is not allowed
   */
  async checkToken(token: string, field: string): Promise<void> {
    const isPlain = token.trim() !== "" && !/\p{Cc}/u.test(stripLineBreaks(token));
    if (!isPlain || Buffer.byteLength(token) > TOKEN_BYTES_MAX) {
      throw invalidField(field, say`${field} must be a push token of 1 to ${TOKEN_BYTES_MAX} bytes.`);
    }
    if (looksLikeSubscription(token)) {
      const subscription = parseSubscription(token);
      if (subscription === undefined) {
        throw invalidField(
          field,
          say`${field} must contain endpoint, keys.p256dh and keys.auth. Send JSON.stringify(subscription) unchanged, as the browser returns it.`,
        );
      }
      await this.#parts.outbound.checkTarget(subscription.endpoint, field);
    } else if (looksLikeUrl(token)) {
      await this.#parts.outbound.checkTarget(token.trim(), field);
    } else if (/^[a-z][a-z0-9+.-]*:\/\//i.test(stripLineBreaks(token))) {
      throw new AppError("forbidden_target", say`The address in ${field} must begin with https://.`, { field });
    }
  }

  /** Closes persistent connections. Nothing can be sent afterwards. */
  async close(): Promise<void> {
    await this.#parts.apns?.close();
  }
}

/** Dependencies of {@link openPushChannels}. */
interface PushChannelOptions {
  readonly config: Pick<Config, "push" | "publicUrl" | "adminEmail">;
  readonly vapid: SecretKey;
  readonly outbound: Outbound;
  readonly clock: Clock;
}

/**
 * Creates the configured channels. Web Push and URLs need no configuration.
 * @throws StartupError with the name of the setting, if a key is missing, unreadable or of the wrong kind
 */
export async function openPushChannels({ config, vapid, outbound, clock }: PushChannelOptions): Promise<PushChannels> {
  return new PushChannels({
    outbound,
    webPush: new WebPushChannel({ outbound, clock, keys: vapidKeysOf(vapid.secret), subject: vapidSubject(config) }),
    url: new UrlChannel({ outbound, clock }),
    fcm: await openFcm({ settings: config.push.fcm, clock }),
    apns: await openApns({ settings: config.push.apns, clock }),
  });
}

/** The contact for push services (RFC 8292 §2.1). Some reject subjects on localhost, or not https: or mailto:. */
function vapidSubject({ push, publicUrl, adminEmail }: PushChannelOptions["config"]): string {
  if (push.vapidSubject !== null) return push.vapidSubject;
  const isPublic = publicUrl?.startsWith("https://") === true && new URL(publicUrl).hostname !== "localhost";
  if (publicUrl !== null && isPublic) return publicUrl;
  return adminEmail === null ? "mailto:larder@example.org" : `mailto:${adminEmail}`;
}
