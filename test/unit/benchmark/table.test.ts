import { expect, test } from "bun:test";
import type { Figure } from "../../../scripts/benchmark/bench.ts";
import { checkTargets, formatAmount, ratio, renderTable } from "../../../scripts/benchmark/table.ts";
import { figure } from "../../support/bench-figure.ts";

test("the ratio is the median of the ratios of each round", () => {
  expect(ratio(figure({ samples: { larder: [10, 40, 90], floor: [10, 20, 30] } }), "floor")).toBe(2);
  expect(ratio(figure({ samples: { larder: [10] } }), "floor")).toBeUndefined();
});

test("targets are reached, missed, or not measured", () => {
  const targets: Figure["targets"] = [{ against: "floor", reach: 1, aim: 2 }];
  const check = (larder: number[], floor: number[]) => checkTargets(figure({ targets, samples: { larder, floor } }));
  expect(check([30], [10])).toBe("aim");
  expect(check([15], [10])).toBe("ok");
  expect(check([5], [10])).toBe("SHORT");
  expect(check([5], [])).toBe("not measured");
});

test("a baseline that is not installed leaves its target out", () => {
  const targets: Figure["targets"] = [{ against: "tus", reach: 1 }];
  const samples = { larder: [1] };
  expect(checkTargets(figure({ targets, samples, failures: { tus: "not installed" } }))).toBe("");
  expect(checkTargets(figure({ targets, samples, failures: { tus: "no response" } }))).toBe("not measured");
});

test("amounts have three significant digits", () => {
  expect([0, 0.1234, 4.5, 20, 1234.5].map(formatAmount)).toEqual(["0", "0.123", "4.5", "20", "1,235"]);
});

test("the table names each baseline with its median and ratio", () => {
  const samples = { larder: [20], floor: [10], tus: [40] };
  const line = renderTable([figure({ samples })]).split("\n")[2];
  expect(line).toMatch(/^uploads +files\/s +20 +floor 10, tus 40 +2\.00 ×, 0\.50 ×$/);
});
