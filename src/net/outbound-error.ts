import type { Message } from "../translations/say.ts";

/**
 * Why there is no response.
 * - forbidden: the target may not be reached, now or ever.
 * - unreachable: no such name, nobody listens, the connection broke, the certificate isn't right.
 * - timeout: no complete response in time.
 * - aborted: the caller's signal.
 * - garbage: the response is not HTTP.
 */
type OutboundFailure = "forbidden" | "unreachable" | "timeout" | "aborted" | "garbage";

/** A request without a response. The message may be logged: it names neither the address nor anything sent. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";

  constructor(
    readonly failure: OutboundFailure,
    /** For people, or only for the log. */
    readonly text: Message | string,
    /** The target is in a private network: the kind of failure would reveal to the user what is in that network. */
    readonly isPrivate = false,
  ) {
    super(typeof text === "string" ? text : text.english);
  }

  /** The same error of a target that is in a private network, or is not. */
  withPrivacy(isPrivate: boolean): OutboundError {
    return isPrivate ? new OutboundError(this.failure, this.text, true) : this;
  }
}

/** Uses only the code: messages of the platform contain names and addresses. */
export function translate(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = codeOf(error);
  if (code.startsWith("HPE_")) return new OutboundError("garbage", `the response is not HTTP (${code})`);
  return new OutboundError("unreachable", `no connection (${code === "" ? "unknown cause" : code})`);
}

/** The code of a platform's error; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
