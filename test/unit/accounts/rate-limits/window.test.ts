import { describe, expect, test } from "bun:test";
import { SlidingWindow } from "../../../../src/features/accounts/rate-limits/window.ts";
import { seededRandom } from "../../../support/random.ts";

const MINUTE = 60_000;
const HOUR = 3_600_000;

/** The simplest sliding window: a list of times. */
class NaiveWindow {
  accepted: number[] = [];
  constructor(readonly lengthMs: number) {}
  inWindow(nowMs: number): number[] {
    return this.accepted.filter((atMs) => atMs > nowMs - this.lengthMs);
  }
  take(nowMs: number, limit: number | null, requested: number): number {
    const free = limit === null ? requested : Math.max(0, limit - this.inWindow(nowMs).length);
    const taken = Math.min(requested, free);
    for (let i = 0; i < taken; i++) this.accepted.push(nowMs);
    return taken;
  }
  resetAtMs(nowMs: number, limit: number | null): number {
    const counted = this.inWindow(nowMs);
    if (counted.length === 0) return nowMs + this.lengthMs;
    const mustLeave = limit === null ? 1 : Math.max(1, counted.length - limit + 1);
    return (counted[mustLeave - 1] ?? nowMs) + this.lengthMs;
  }
}

describe("the sliding window", () => {
  test("accepts requests up to the limit, and the next one exactly when the oldest leaves", () => {
    const window = new SlidingWindow(MINUTE);
    for (let i = 0; i < 5; i++) expect(window.take(1000 + i, 5)).toBe(1);
    expect(window.take(1005, 5)).toBe(0);
    expect(window.resetAtMs(1005, 5)).toBe(61_000);
    expect(window.take(60_999, 5)).toBe(0);
    expect(window.take(61_000, 5)).toBe(1);
    expect(window.take(61_000, 5)).toBe(0);
    expect(window.take(61_001, 5)).toBe(1);
  });

  test("without requests is reset a window from now", () => {
    const window = new SlidingWindow(MINUTE);
    expect(window.remaining(500, 5)).toBe(5);
    expect(window.resetAtMs(500, 5)).toBe(60_500);
    expect(window.used(500)).toBe(0);
  });

  test("counts without a limit", () => {
    const window = new SlidingWindow(MINUTE);
    expect(window.take(0, null, 3)).toBe(3);
    expect(window.used(0)).toBe(3);
    expect(window.remaining(0, null)).toBeNull();
    expect(window.resetAtMs(10, null)).toBe(60_000);
  });

  test("accepts as many of several requests as the limit allows", () => {
    const window = new SlidingWindow(MINUTE);
    expect(window.take(0, 10, 7)).toBe(7);
    expect(window.take(0, 10, 7)).toBe(3);
    expect(window.take(0, 10, 7)).toBe(0);
  });

  test("a lowered limit applies immediately, and Reset is the time of the next accepted request", () => {
    const window = new SlidingWindow(MINUTE);
    for (let i = 0; i < 10; i++) window.take(i * 1000, 10);
    expect(window.remaining(9000, 3)).toBe(0);
    const resetAtMs = window.resetAtMs(9000, 3);
    expect(resetAtMs).toBe(67_000);
    expect(window.take(resetAtMs - 1, 3)).toBe(0);
    expect(window.take(resetAtMs, 3)).toBe(1);
  });

  test("a limit of 0 always rejects", () => {
    const window = new SlidingWindow(MINUTE);
    expect(window.take(0, 0)).toBe(0);
    expect(window.resetAtMs(0, 0)).toBe(MINUTE);
  });

  test("a clock set back rejects no one for longer than a window", () => {
    const window = new SlidingWindow(HOUR);
    const wrongYear = Date.UTC(2031, 0, 1);
    for (let i = 0; i < 10; i++) window.take(wrongYear + i, 10);
    const now = Date.UTC(2026, 0, 1);
    expect(window.take(now, 10)).toBe(0);
    expect(window.resetAtMs(now, 10)).toBe(now + HOUR);
    expect(window.take(now + HOUR - 1, 10)).toBe(0);
    expect(window.take(now + HOUR, 10)).toBe(1);
  });

  test("a clock set back a little never accepts more than the limit", () => {
    const window = new SlidingWindow(MINUTE);
    expect(window.take(10_000, 2)).toBe(1);
    expect(window.take(9_950, 2)).toBe(1);
    expect(window.take(9_900, 2)).toBe(0);
    expect(window.take(69_899, 2)).toBe(0);
  });

  test.each([1, 2, 3, 4, 5, 6])("equals a plain list of times, sequence %i", (seed) => {
    const random = seededRandom(seed).fraction;
    const window = new SlidingWindow(MINUTE);
    const naive = new NaiveWindow(MINUTE);
    let limit: number | null = 1 + Math.floor(random() * 40);
    let nowMs = 1_000_000;
    for (let step = 0; step < 3000; step++) {
      const pace = random();
      if (pace > 0.6) nowMs += Math.floor(random() * 3000);
      if (pace > 0.995) nowMs += MINUTE - 1 + Math.floor(random() * 3);
      if (random() < 0.01) limit = random() < 0.2 ? null : 1 + Math.floor(random() * 40);
      const requested = random() < 0.9 ? 1 : 1 + Math.floor(random() * 8);
      expect(window.take(nowMs, limit, requested)).toBe(naive.take(nowMs, limit, requested));
      expect(window.used(nowMs)).toBe(naive.inWindow(nowMs).length);
      expect(window.resetAtMs(nowMs, limit)).toBe(naive.resetAtMs(nowMs, limit));
    }
  });

  test("with a large limit never accepts more than the limit, and accepts at the time of Reset", () => {
    const random = seededRandom(7).fraction;
    const window = new SlidingWindow(HOUR);
    const limit = 60_000;
    const accepted: number[] = [];
    let nowMs = 0;
    let hasRejected = false;
    for (let step = 0; step < 300_000; step++) {
      nowMs += Math.floor(random() * 60);
      if (window.take(nowMs, limit) === 1) accepted.push(nowMs);
      else {
        hasRejected = true;
        const resetAtMs = window.resetAtMs(nowMs, limit);
        expect(resetAtMs).toBeGreaterThan(nowMs);
        nowMs = resetAtMs;
        expect(window.take(nowMs, limit)).toBe(1);
        accepted.push(nowMs);
      }
    }
    expect(hasRejected).toBe(true);
    for (let i = limit; i < accepted.length; i++) {
      expect((accepted[i] ?? 0) - (accepted[i - limit] ?? 0)).toBeGreaterThanOrEqual(HOUR);
    }
  });
});
