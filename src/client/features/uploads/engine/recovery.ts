/** Decides what to do after a failed attempt to send a file. Pure. */
import { text } from "../text.ts";
import { delayBefore } from "./backoff.ts";
import { type Failure, smallerChunk } from "./failures.ts";
import type { Upload } from "./types.ts";

/** How often to retry an unexpected response, or an upload that makes no progress. */
const UNEXPECTED_MAX = 5;

/** What to do after a failed attempt. */
export type Recovery =
  | Retry
  | { readonly kind: "waitForSignIn" }
  | { readonly kind: "resolveConflict"; readonly problem: string }
  | { readonly kind: "askForFile"; readonly problem: string }
  | { readonly kind: "fail"; readonly problem: string };

/** Another attempt after a wait. */
export interface Retry {
  readonly kind: "retry";
  readonly delayMs: number;
  /** Shown while waiting; undefined if the wait is too short to be noticed. */
  readonly problem: string | undefined;
  /** Changes of the upload for the next attempt. */
  readonly change?: Partial<Pick<Upload, "url" | "sent" | "chunkSize">>;
  /** Whether the change must survive a reload. */
  readonly savesChange?: boolean;
}

/** An upload and its failures so far. */
interface FailedAttempt {
  readonly upload: Pick<Upload, "url" | "chunkSize">;
  /** Attempts since the last progress, from 0. */
  readonly attempt: number;
  /**
   * How often this kind of failure has occurred. Not reset by progress: bytes that leave the page count as progress even
   * if they are lost.
   */
  readonly times: number;
}

/** Decides what to do about a failure. */
export function recoveryFrom(failure: Failure, { upload, attempt, times }: FailedAttempt): Recovery {
  switch (failure.kind) {
    case "network":
      return retry(delayBefore(attempt, undefined), text.waitingForNetwork);
    case "busy":
      return retry(delayBefore(attempt, failure.retryAfterSeconds), failure.message);
    case "offsetMismatch":
      return retry(repeatDelayMs(times), undefined);
    case "unexpected":
      return times >= UNEXPECTED_MAX
        ? { kind: "fail", problem: failure.message }
        : retry(delayBefore(attempt, undefined), failure.message);
    case "signedOut":
      return { kind: "waitForSignIn" };
    case "expired":
      if (upload.url === undefined || times >= UNEXPECTED_MAX) return { kind: "fail", problem: text.failed };
      return { ...retry(repeatDelayMs(times), undefined), change: { url: undefined, sent: 0 } };
    case "proxyTimeout": {
      const chunkSize = smallerChunk(upload.chunkSize) ?? upload.chunkSize;
      return { ...retry(delayBefore(attempt, undefined), failure.message), change: { chunkSize } };
    }
    case "bodyTooLarge": {
      const chunkSize = smallerChunk(upload.chunkSize);
      if (chunkSize === undefined) return { kind: "fail", problem: text.proxyTooLarge };
      return { ...retry(0, undefined), change: { chunkSize }, savesChange: true };
    }
    case "nameTaken":
      // The server's message suggests what only other clients need: the dialog of this page offers more.
      return { kind: "resolveConflict", problem: text.nameTaken };
    case "unreadable":
      return { kind: "askForFile", problem: text.fileChanged };
    case "rejected":
      return { kind: "fail", problem: failure.message };
  }
}

function retry(delayMs: number, problem: string | undefined): Retry {
  return { kind: "retry", delayMs, problem };
}

/** The first time, the server's state is known and the next attempt can follow at once. Repeated failures wait. */
function repeatDelayMs(times: number): number {
  return times === 1 ? 0 : delayBefore(times - 1, undefined);
}
