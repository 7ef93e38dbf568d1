/**
 * Counts every request, and logs those that the configuration selects. It wraps the application instead of being one of
 * its hooks: so it sees the status of every response, and delays no request.
 */
import { auditNoteOf } from "../../http/audit-note.ts";
import { withoutTokens } from "../../http/base.ts";
import { requestContextOf } from "../../http/request-context.ts";
import type { Log } from "../../lib/log.ts";
import { insideRequest } from "../../lib/async-context.ts";
import type { RequestStatistics } from "./request-statistics.ts";

/** Dependencies of {@link observeRequests}. */
interface ObserveOptions {
  readonly log: Log;
  /** Which requests are logged: none, server errors and slow requests, or all. */
  readonly logRequests: "off" | "errors" | "all";
  /** Whether the other requests are logged at level debug. */
  readonly isDebugging: boolean;
  readonly statistics: Pick<RequestStatistics, "note">;
}

/** A longer request is slow. */
const SLOW_MS = 10_000;
/** A request with a larger body is never slow: its duration depends on the client. */
const LARGE_BODY_BYTES = 1024 * 1024;

/** Handles a request, and returns its response. */
type ObserveRequest = (request: Request, work: () => Response | Promise<Response>) => Response | Promise<Response>;

/** Observes requests. A response counts when it begins: the time to send its body depends on the client. */
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
      // A system call, so only for requests that are logged.
      client: requestContext.clientAddress,
    };
    if (isBad) log.warn(status >= 500 ? "Request failed with a server error." : "Slow request.", fields);
    else if (logRequests === "all") log.info("request", fields);
    else log.debug("request", fields);
  };
  // Following a request through its asynchronous calls takes 5% of its time, so only if every request is logged.
  const within = isDebugging || logRequests === "all" ? insideRequest : <T>(work: () => T) => work();
  return (request, work) =>
    within(() => {
      const response = work();
      if (!(response instanceof Promise)) {
        note(request, response.status);
        return response;
      }
      return response.then(
        (finished) => {
          note(request, finished.status);
          return finished;
        },
        (error: unknown) => {
          note(request, 500);
          throw error;
        },
      );
    });
}

/**
 * Whether a 5xx status is a failure of the server. A pending thumbnail and a stopping server respond with 5xx by
 * design.
 */
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
