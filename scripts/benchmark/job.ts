/**
 * What the load generator is told and what it tells back. Both travel as JSON, over the generator's stdin and stdout.
 */

/**
 * One request that is sent again and again. Every run of four or eight `#` in `head`, `prefix` and the first 256 bytes
 * of a file body becomes the number of the request in hexadecimal, so that names and contents are distinct.
 */
export interface RequestTemplate {
  /** Request line and header lines, each ended by CRLF, without Content-Length and without the empty line. */
  head: string;
  /** What precedes the body's bytes, such as the opening of a multipart form. */
  prefix?: string;
  body?: { random: number } | { file: string };
  suffix?: string;
}

export interface Job {
  host: string;
  port: number;
  connections: number;
  /** Taken in turn. */
  templates: RequestTemplate[];
  /** No request is begun after so many. */
  count?: number;
  /** No request is begun after so long. */
  durationMs?: number;
  /** Open loop: so many requests a second are due whatever the server does, and latency counts from when one was due. */
  ratePerSecond?: number;
  /** The first request's number; the next ones count up from it. */
  firstNumber: number;
  /** Return the body of each answer, not only of the first. */
  keepBodies?: boolean;
  /** Statuses that are no failure besides 2xx. */
  accept?: number[];
}

export interface Answer {
  number: number;
  body: string;
}

export interface Outcome {
  requests: number;
  failures: number;
  /** Status and start of the body of the first answer that was a failure. */
  firstFailure?: string;
  /** From the first request to the end of the last answer. */
  elapsedMs: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  bytesReceived: number;
  statuses: Record<string, number>;
  answers: Answer[];
}
