import type { WakeableWait } from "./backoff.ts";
import type { Failure } from "./failures.ts";

/** The state of a running upload, which is not saved. */
export interface UploadRun {
  readonly controller: AbortController;
  /** The wait before the next attempt. */
  wait: WakeableWait | undefined;
  /** The number of failures by kind. */
  readonly failures: Map<Failure["kind"], number>;
}

/** A new run. */
export function newRun(): UploadRun {
  return { controller: new AbortController(), wait: undefined, failures: new Map() };
}

/** Ends a run: its request, or its wait. */
export function abortRun(run: UploadRun): void {
  run.controller.abort();
  run.wait?.wake();
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
