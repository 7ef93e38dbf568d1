/** Failures of a server as errors of an import. */
import type { OutboundError } from "../../../../../net/outbound-error.ts";
import { parseRetryAfter } from "../../../../../net/retry-after.ts";
import type { OutboundStreamResponse } from "../../../../../net/outbound.ts";
import { SourceError } from "../../source.ts";
import { type Message, say } from "../../../../../translations/say.ts";

/** A failed attempt that may be repeated. */
export interface FailedAttempt {
  readonly error: SourceError;
  /** How long the server asks to wait. */
  readonly afterMs?: number | undefined;
}

/** The server responded with a status that is no success. */
export class StatusError extends SourceError {
  constructor(
    readonly status: number,
    message: Message,
  ) {
    super(message, status >= 500 || status === 408);
  }
}

/** An error without a response. The messages name nothing that was sent. */
export function describeFailure({ failure, text, message, isPrivate }: OutboundError): SourceError {
  if (failure === "forbidden") {
    const hint = say`Use a public https:// address, or ask the administrator to allow it (LARDER_OUTBOUND_ALLOW).`;
    return new SourceError(say`The address of the server is not allowed: it ${text}. ${hint}`, false);
  }
  // What is in the private network of this machine is not shown.
  if (isPrivate)
    return new SourceError(say`The server could not be reached. Check its address.`, failure !== "garbage");
  if (failure === "garbage") return new SourceError(say`Check the address of the server: ${message}.`, false);
  if (/\((?:\w*CERT\w*|UNABLE_TO_\w+)\)/.test(message)) {
    return new SourceError(say`The certificate of the server is not trusted: ${message}. Check its address.`, false);
  }
  if (failure === "timeout") return new SourceError(say`The server does not respond. Try again later.`, true);
  return new SourceError(say`The server can't be reached: ${message}. Check its address, or try again later.`, true);
}

/** A response that asks to try again later; undefined for all others. */
export function temporaryFailure(response: OutboundStreamResponse, nowMs: number): FailedAttempt | undefined {
  const { status } = response;
  const afterMs = parseRetryAfter(response.header("retry-after"), nowMs);
  if (status === 429) {
    return { error: new SourceError(say`The server limits the number of requests. Try again later.`, true), afterMs };
  }
  if (status === 503 && response.header("x-nextcloud-maintenance-mode") !== undefined) {
    return { error: new SourceError(say`The server is in maintenance mode. Try again later.`, true), afterMs };
  }
  if (![408, 502, 503, 504].includes(status)) return undefined;
  const message = say`The server is not available (status ${status}). Try again later.`;
  return { error: new StatusError(status, message), afterMs };
}
