/** The stored form of push tokens. Only the channels know what they address. */
import { parseSubscription } from "./channels/web-push.ts";

/**
 * A push token in the form in which it is stored and compared: a browser's subscription as normalized JSON, any other
 * token without surrounding white space.
 */
export function canonicalToken(token: string): string {
  const subscription = parseSubscription(token);
  return subscription === undefined ? token.trim() : JSON.stringify(subscription);
}

/**
 * The concurrency group of a token: the devices that the same push service would slow down. This is the host of a URL
 * or of a browser's subscription, otherwise the platform. Few deliveries of one group run concurrently.
 */
export function concurrencyGroupOf(token: string, platform: string): string {
  const address = parseSubscription(token)?.endpoint ?? token;
  return URL.parse(address)?.host || platform.trim().toLowerCase();
}
