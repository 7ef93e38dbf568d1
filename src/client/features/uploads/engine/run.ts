import type { Wakeable } from "./backoff.ts";
import type { Failure } from "./failures.ts";

/** What only this page knows of a running upload. */
export interface UploadRun {
  readonly controller: AbortController;
  /** What it waits for before it tries again. */
  wait: Wakeable | undefined;
  /** How often each kind of failure was met. */
  readonly failures: Map<Failure["kind"], number>;
}

/** A run that has just begun. */
export function newRun(): UploadRun {
  return { controller: new AbortController(), wait: undefined, failures: new Map() };
}

/** Ends what runs: the request, or the wait for the next. */
export function abortRun(run: UploadRun): void {
  run.controller.abort();
  run.wait?.wake();
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
