/**
 * The place around every request where it is counted, and told in the log where the configuration wants that. Around the
 * application rather than among its hooks: it sees the status of every answer, and no request waits for it.
 */
import { auditNoteOf } from "../../http/audit-note.ts";
import { withoutTokens } from "../../http/base.ts";
import { requestContextOf } from "../../http/request-context.ts";
import type { Log } from "../../lib/log.ts";
import { insideRequest } from "../../lib/async-context.ts";
import type { RequestStatistics } from "./request-statistics.ts";

/** What {@link observeRequests} works with. */
export interface ObserveOptions {
  readonly log: Log;
  /** Which requests are lines of the log: none, those that failed here or were slow, or all. */
  readonly logRequests: "off" | "errors" | "all";
  /** Whether the others are lines too, at level debug. */
  readonly isDebugging: boolean;
  readonly statistics: Pick<RequestStatistics, "note">;
}

/** From here on a request is slow. */
const SLOW_MS = 10_000;
/** A request with a larger body takes as long as its sender does. */
const LARGE_BODY_BYTES = 1024 * 1024;

/** Does the work of a request, and gives its answer. */
export type ObserveRequest = (
  request: Request,
  work: () => Response | Promise<Response>,
) => Response | Promise<Response>;

/** See the head of this file. An answer counts when it begins: what sending its body takes is the receiver's affair. */
export function observeRequests({ log, logRequests, isDebugging, statistics }: ObserveOptions): ObserveRequest {
  const note = (request: Request, status: number) => {
    const requestContext = requestContextOf(request);
    const { path, startedMs, requestId, brokeOffAtBytes } = requestContext;
    const isBrokenOff = brokeOffAtBytes !== undefined;
    const ms = performance.now() - startedMs;
    statistics.note(request.method, path, status, ms);
    const isSlow = ms > SLOW_MS && !isLarge(request) && !isBrokenOff;
    const isBad = logRequests !== "off" && (isOurFault(request, status) || isSlow);
    if (!isBad && !isDebugging && logRequests !== "all") return;
    const fields = {
      requestId,
      method: request.method,
      path: withoutTokens(path),
      status,
      ...(isBrokenOff && { receivedBytes: brokeOffAtBytes }),
      ms: Math.round(ms),
      // Asks the system for it: only for a line that is written.
      client: requestContext.clientAddress,
    };
    if (isBad) log.warn(status >= 500 ? "Request failed with a server error." : "Slow request.", fields);
    else if (logRequests === "all") log.info("request", fields);
    else log.debug("request", fields);
  };
  // To follow a request through everything that it awaits costs a twentieth of it: for who wants every line alone.
  const within = isDebugging || logRequests === "all" ? insideRequest : <T>(work: () => T) => work();
  return (request, work) =>
    within(() => {
      const answer = work();
      if (!(answer instanceof Promise)) {
        note(request, answer.status);
        return answer;
      }
      return answer.then(
        (response) => {
          note(request, response.status);
          return response;
        },
        (error: unknown) => {
          note(request, 500);
          throw error;
        },
      );
    });
}

/** A picture that is still being made, and a server that stops, answer 5xx as they should. */
function isOurFault(request: Request, status: number): boolean {
  if (status < 500) return false;
  const { reason } = auditNoteOf(request);
  return reason !== "thumbnail_pending" && reason !== "shutting_down";
}

function isLarge(request: Request): boolean {
  return (
    Number(request.headers.get("content-length") ?? 0) > LARGE_BODY_BYTES || request.headers.has("transfer-encoding")
  );
}
