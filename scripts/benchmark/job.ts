/**
 * Input and output of the load generator, which are sent as JSON over its stdin and stdout.
 */

/**
 * A request that is sent repeatedly. Every run of four or eight `#` in `head`, `prefix` and the first 256 bytes of a
 * file body is replaced by the request's number in hexadecimal, so that names and contents are distinct.
 */
export interface RequestTemplate {
  /** Request line and header lines, each with CRLF, without Content-Length and the empty line. */
  head: string;
  /** Bytes before the body, such as the beginning of a multipart form. */
  prefix?: string;
  body?: { random: number } | { file: string };
  suffix?: string;
}

export interface Job {
  host: string;
  port: number;
  connections: number;
  /** Used in turn. */
  templates: RequestTemplate[];
  /** The maximum number of requests. */
  count?: number;
  /** The time after which no request starts. */
  durationMs?: number;
  /** Open loop: requests are due at this rate, however slow the server is. Latency counts from the due time. */
  ratePerSecond?: number;
  /** Closes all connections when this many bytes were sent, also in the middle of a request. */
  cutAfterBytes?: number;
  /** The first request's number; later ones count up. */
  firstNumber: number;
  /** Return the body of each response instead of the first only. */
  storeBodies?: boolean;
  /** Successful statuses in addition to 2xx. */
  accept?: number[];
}

export interface RecordedResponse {
  number: number;
  body: string;
}

export interface JobResult {
  requests: number;
  failures: number;
  /** Status and first bytes of the first failed response. */
  firstFailure?: string;
  /** From the first request to the end of the last response. */
  elapsedMs: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  bytesReceived: number;
  statuses: Record<string, number>;
  responses: RecordedResponse[];
}
