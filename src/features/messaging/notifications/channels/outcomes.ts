/** Maps HTTP statuses and network errors to delivery outcomes. */
import type { OutboundResponse } from "../../../../net/outbound.ts";
import { OutboundError } from "../../../../net/outbound-error.ts";
import { parseRetryAfter } from "../../../../net/retry-after.ts";
import type { DeliveryOutcome } from "./channel.ts";

/** The push service accepted the message. */
export const DELIVERED: DeliveryOutcome = { state: "delivered" };

/** An outcome that asks for a retry, after the time in the response's `Retry-After` header. */
export function retryLater(why: string, retryAfter: string | undefined, nowMs: number): DeliveryOutcome {
  const afterMs = parseRetryAfter(retryAfter, nowMs);
  return { state: "retry", why, ...(afterMs !== undefined && { afterMs }) };
}

/**
 * The outcome of a request to a push service with the statuses of RFC 8030: Web Push, and services modeled on it. 404
 * and
 * 410 mean that the subscription has ended; 408, 429 and 5xx are temporary; any other status concerns this message.
 */
export function outcomeOfStatus(response: OutboundResponse, nowMs: number): DeliveryOutcome {
  const { status } = response;
  const why = `the push service returned ${status}`;
  if (status >= 200 && status < 300) return DELIVERED;
  if (status === 404 || status === 410) return { state: "gone", why };
  if (status === 429 || status === 408 || status >= 500) return retryLater(why, response.header("retry-after"), nowMs);
  if (status >= 300 && status < 400) return { state: "rejected", why: `${why}; redirects are not followed` };
  return { state: "rejected", why };
}

/**
 * The outcome of an attempt without a response. Unexpected errors are logged by name only: a message may contain keys.
 */
export function outcomeOfFailure(error: unknown, signal: AbortSignal): DeliveryOutcome {
  if (signal.aborted) return { state: "retry", why: "the request was canceled" };
  if (!(error instanceof OutboundError)) {
    return { state: "retry", why: `unexpected: ${error instanceof Error ? error.name : typeof error}` };
  }
  const { failure, message } = error;
  return failure === "forbidden"
    ? { state: "rejected", why: `the target address is not allowed: it ${message}` }
    : { state: "retry", why: message };
}
