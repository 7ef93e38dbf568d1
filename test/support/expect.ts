// Assertions and waits that many tests share.
import { expect } from "bun:test";
import type { ApiResponse } from "./client.ts";

/** ISO 8601 in UTC with milliseconds: the form of every timestamp in the API. */
export const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Expects an error with this status and, if given, this reason and this invalid field. The rules for all responses
 * check that the error code matches the status.
 */
export function expectError(response: ApiResponse, status: number, reason?: string, field?: string): void {
  const actual: Record<string, unknown> = { status: response.status };
  const expected: Record<string, unknown> = { status };
  if (response.status !== status) actual["body"] = response.text.slice(0, 1000);
  if (reason !== undefined) {
    expected["reason"] = reason;
    actual["reason"] = response.text === "" ? undefined : response.at("error.details.reason");
  }
  if (field !== undefined) {
    expected["field"] = field;
    actual["field"] = response.at("error.details.field");
  }
  expect(actual).toEqual(expected);
}

/** Expects a status. On failure, shows the body. */
export function expectStatus(response: ApiResponse, status: number): void {
  if (response.status === status) return;
  expect({ status: response.status, body: response.text.slice(0, 1000) }).toEqual({ status, body: "" });
}

/**
 * Waits until `check` returns true. For effects that come after a response.
 *
 * @param what named in the error
 * @throws Error after `msMax` milliseconds
 */
export async function eventually(
  what: string,
  check: () => Promise<boolean> | boolean,
  msMax = 60_000,
  intervalMs = 20,
): Promise<void> {
  const end = Date.now() + msMax;
  for (;;) {
    if (await check()) return;
    if (Date.now() > end) throw new Error(`still waiting for: ${what}`);
    await Bun.sleep(intervalMs);
  }
}

/** Statuses in ascending order, for responses that arrive in any order. */
export function sortedStatuses(responses: ApiResponse[]): number[] {
  return responses.map((response) => response.status).sort((a, b) => a - b);
}

/** Expects a status from 400 to 499. */
export function expectClientError(response: ApiResponse): void {
  if (response.status >= 400 && response.status < 500) return;
  expect({ status: response.status, body: response.text.slice(0, 1000) }).toEqual({ status: 400, body: "any 4xx" });
}

/** Waits until the clock shows another millisecond, so that later timestamps are greater than all earlier ones. */
export async function waitForNextMillisecond(): Promise<void> {
  const nowMs = Date.now();
  while (Date.now() === nowMs) await new Promise(setImmediate);
}

/** Runs the work ten times and returns the shortest duration in milliseconds, which other processes disturb least. */
export function measureLeastMs(work: () => void): number {
  return Math.min(
    ...Array.from({ length: 10 }, () => {
      const startedMs = performance.now();
      work();
      return performance.now() - startedMs;
    }),
  );
}

/** Waits for the next UTC day if this one ends within 20 seconds. For tests that read "today" more than once. */
export async function avoidMidnight(): Promise<void> {
  const dayMs = 24 * 60 * 60 * 1000;
  const leftMs = dayMs - (Date.now() % dayMs);
  if (leftMs < 20_000) await Bun.sleep(leftMs + 10);
}
