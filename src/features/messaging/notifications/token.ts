/** Push tokens as they are kept. What they lead to is for the channels to know. */
import { parseSubscription } from "./channels/web-push.ts";

/**
 * A push token in the one form in which it is kept and compared: a browser's subscription by what it says, however its
 * JSON is written; others without spaces around them.
 */
export function canonicalToken(token: string): string {
  const subscription = parseSubscription(token);
  return subscription === undefined ? token.trim() : JSON.stringify(subscription);
}

/**
 * Whose fault it is when a delivery is slow: the host, for tokens that are an address or a browser's subscription, else
 * the platform's push service. Few deliveries run side by side in one lane.
 */
export function laneOf(token: string, platform: string): string {
  const address = parseSubscription(token)?.endpoint ?? token;
  return URL.parse(address)?.host || platform.trim().toLowerCase();
}
