// What tests say again and again about answers.
import { expect } from "bun:test";
import type { ApiResponse } from "./client.ts";

/** ISO 8601 UTC with milliseconds, as every timestamp of the API. */
export const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * The answer is a refusal with this status and, where given, this reason and field at fault.
 * That code and status belong together is checked for every answer elsewhere.
 */
export function expectError(response: ApiResponse, status: number, reason?: string, field?: string): void {
  const seen: Record<string, unknown> = { status: response.status };
  const wanted: Record<string, unknown> = { status };
  if (response.status !== status) seen["body"] = response.text.slice(0, 1000);
  if (reason !== undefined) {
    wanted["reason"] = reason;
    seen["reason"] = response.text === "" ? undefined : response.at("error.details.reason");
  }
  if (field !== undefined) {
    wanted["field"] = field;
    seen["field"] = response.at("error.details.field");
  }
  expect(seen).toEqual(wanted);
}

/** The answer has this status; on failure its body is shown. */
export function expectStatus(response: ApiResponse, status: number): void {
  if (response.status === status) return;
  expect({ status: response.status, body: response.text.slice(0, 1000) }).toEqual({ status, body: "" });
}

/**
 * Waits until `look` returns true: for effects that come after an answer. Fails after a bounded time.
 *
 * @param what named in the failure
 */
export async function eventually(what: string, look: () => Promise<boolean> | boolean, msMax = 60_000): Promise<void> {
  const end = Date.now() + msMax;
  for (;;) {
    if (await look()) return;
    if (Date.now() > end) throw new Error(`never came true: ${what}`);
    await Bun.sleep(20);
  }
}

/** Statuses in ascending order, for answers whose order is left to chance. */
export function sortedStatuses(responses: ApiResponse[]): number[] {
  return responses.map((response) => response.status).sort((a, b) => a - b);
}

/** Any refusal of the client's doing: 400 to 499. */
export function expectClientError(response: ApiResponse): void {
  if (response.status >= 400 && response.status < 500) return;
  expect({ status: response.status, body: response.text.slice(0, 1000) }).toEqual({ status: 400, body: "any 4xx" });
}

/** Resolves once the clock shows another millisecond: what comes then is later than all before. */
export async function waitForNextMillisecond(): Promise<void> {
  const nowMs = Date.now();
  while (Date.now() === nowMs) await new Promise(setImmediate);
}

/** How long it takes where nothing else comes between: the least of ten times, in milliseconds. */
export function measureLeastMs(work: () => void): number {
  return Math.min(
    ...Array.from({ length: 10 }, () => {
      const startedMs = performance.now();
      work();
      return performance.now() - startedMs;
    }),
  );
}

/** Waits for the next day in UTC where this one ends within seconds: for what says "today" more than once. */
export async function avoidMidnight(): Promise<void> {
  const dayMs = 24 * 60 * 60 * 1000;
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs < 20_000) await Bun.sleep(leftMs + 10);
}
