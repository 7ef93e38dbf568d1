import { expect, test } from "bun:test";
import { hasRegressed, judge, renderComparison } from "../../../scripts/benchmark/comparison.ts";
import { figure } from "../../support/bench-figure.ts";

test("a slower rate is worse only beyond the tolerance", () => {
  expect(judge([0.8, 0.82, 0.85], "higher")).toBe("WORSE");
  expect(judge([0.95, 0.94, 0.96], "higher")).toBe("same");
  expect(judge([1.2, 1.25, 1.3], "higher")).toBe("better");
});

test("a longer time is worse, a shorter one better", () => {
  expect(judge([1.2, 1.15, 1.3], "lower")).toBe("WORSE");
  expect(judge([0.7, 0.8, 0.75], "lower")).toBe("better");
});

test("rounds that contradict each other are no difference", () => {
  expect(judge([0.5, 0.6, 1.1], "higher")).toBe("same");
  expect(judge([], "higher")).toBe("");
});

test("more CPU time at the same rate is a regression", () => {
  const samples = { larder: [100, 100, 100], before: [100, 100, 100] };
  const cpu = { larder: [3, 3, 3], before: [2, 2, 2] };
  expect(hasRegressed(figure({ samples }))).toBe(false);
  expect(hasRegressed(figure({ samples, cpu, cpuUnit: "ms" }))).toBe(true);
});

test("a figure that failed with either executable is a regression", () => {
  expect(hasRegressed(figure({ failures: { before: "no response" } }))).toBe(true);
});

test("the table has a line for each figure and for its CPU time", () => {
  const samples = { larder: [50, 50, 50], before: [100, 100, 100] };
  const cpu = { larder: [2, 2, 2], before: [2, 2, 2] };
  const lines = renderComparison([figure({ samples, cpu, cpuUnit: "ms" })]).split("\n");
  expect(lines).toHaveLength(4);
  expect(lines[2]).toMatch(/^uploads +files\/s +50 +100 +0\.50 × +WORSE$/);
  expect(lines[3]).toMatch(/^ {2}server CPU +ms +2 +2 +1\.00 × +same$/);
});
