/** What statuses and failures mean to all channels that speak HTTP. */
import { type OutboundResponse, OutboundError } from "../../../../net/outbound.ts";
import { parseRetryAfter } from "../../../../net/retry-after.ts";
import type { DeliveryOutcome } from "./channel.ts";

/** The push service took the message. */
export const DELIVERED: DeliveryOutcome = { state: "delivered" };

/** An outcome that says to try again, after the time that the service asked for. */
export function retryLater(why: string, answer?: OutboundResponse, nowMs = 0): DeliveryOutcome {
  const afterMs = parseRetryAfter(answer?.header("retry-after"), nowMs);
  return { state: "retry", why, ...(afterMs !== undefined && { afterMs }) };
}

/**
 * The outcome of a request to a push service whose statuses are those of RFC 8030: Web Push, and what is built like it.
 * 404 and 410 end a subscription; 429, 408 and 5xx pass; any other status is about this message.
 */
export function outcomeOfStatus(answer: OutboundResponse, nowMs: number): DeliveryOutcome {
  const { status } = answer;
  const why = `the push service returned ${status}`;
  if (status >= 200 && status < 300) return DELIVERED;
  if (status === 404 || status === 410) return { state: "gone", why };
  if (status === 429 || status === 408 || status >= 500) return retryLater(why, answer, nowMs);
  if (status >= 300 && status < 400) return { state: "rejected", why: `${why}; redirects are not followed` };
  return { state: "rejected", why };
}

/**
 * The outcome of an attempt that brought no answer. Of errors that nobody foresaw only the name is told: their messages
 * may hold addresses and keys.
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
