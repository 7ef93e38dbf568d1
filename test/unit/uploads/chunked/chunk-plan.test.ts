import { describe, expect, test } from "bun:test";
import { AppError } from "../../../../src/errors.ts";
import {
  checkChunkSize,
  CHUNK_BYTES_DEFAULT,
  CHUNK_BYTES_MAX,
  ChunkSet,
  planChunks,
  spanOf,
} from "../../../../src/features/uploads/chunked/chunk-plan.ts";

/** Returns the error that a call is rejected with. */
function rejectionOf(call: () => unknown): AppError {
  try {
    call();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error("the call was not rejected");
}

describe("planChunks", () => {
  test("covers every byte once", () => {
    for (const [sizeBytes, chunkSizeBytes] of [
      [0, 1024],
      [1, 1024],
      [1024, 1024],
      [1025, 1024],
      [10_000_000, 4096],
    ] as const) {
      const plan = planChunks(sizeBytes, chunkSizeBytes);
      let next = 0;
      for (let index = 0; index < plan.totalChunks; index++) {
        const span = spanOf(plan, index);
        expect(span?.offset).toBe(next);
        expect(span?.lengthBytes).toBeGreaterThan(0);
        next += span?.lengthBytes ?? 0;
      }
      expect(next).toBe(sizeBytes);
      expect(spanOf(plan, plan.totalChunks)).toBeUndefined();
    }
  });

  test("accepts at most 10,000 chunks, and names the smallest sufficient chunk size", () => {
    expect(planChunks(10_000 * 1024, 1024).totalChunks).toBe(10_000);
    const rejection = rejectionOf(() => planChunks(10_000 * 1024 + 1, 1024));
    expect(rejection.reason).toBe("chunk_size");
    const min = Number(rejection.details["min"]);
    expect(planChunks(10_000 * 1024 + 1, min).totalChunks).toBeLessThanOrEqual(10_000);
    expect(rejectionOf(() => planChunks(10_000 * 1024 + 1, min - 1)).reason).toBe("chunk_size");
  });

  test("rejects a file with too many chunks of any size, and gives the limit", () => {
    expect(rejectionOf(() => planChunks(10_000 * CHUNK_BYTES_MAX + 1, CHUNK_BYTES_MAX)).message).toContain("at most");
  });

  test("has no chunk at invalid indexes", () => {
    const plan = planChunks(5000, 1024);
    for (const index of [-1, 0.5, Number.NaN, 5, Infinity]) expect(spanOf(plan, index)).toBeUndefined();
  });
});

test("checkChunkSize accepts 1 KiB to 64 MiB", () => {
  expect(checkChunkSize(undefined)).toBe(CHUNK_BYTES_DEFAULT);
  for (const size of [1024, 64 * 1024 * 1024]) expect(checkChunkSize(size)).toBe(size);
  for (const size of [0, -1, 1023, 64 * 1024 * 1024 + 1, 1024.5, Number.NaN]) {
    expect(rejectionOf(() => checkChunkSize(size)).reason).toBe("chunk_size");
  }
});

describe("ChunkSet", () => {
  const plan = planChunks(4500, 1000);

  test("counts chunks and bytes once, in any order", () => {
    const set = new ChunkSet(plan);
    for (const index of [4, 1, 1, 4, 99, -1]) set.add(index);
    expect([set.count, set.bytes, set.prefixBytes, set.isWhole]).toEqual([2, 1500, 0, false]);
    expect([set.list(true), set.list(false)]).toEqual([
      [1, 4],
      [0, 2, 3],
    ]);
    set.add(0);
    expect(set.prefixBytes).toBe(2000);
    for (const index of [2, 3]) set.add(index);
    expect([set.count, set.bytes, set.prefixBytes, set.isWhole]).toEqual([5, 4500, 4500, true]);
  });

  test("can remove a chunk, which ends the complete prefix before it", () => {
    const set = new ChunkSet(plan, [0, 1, 2, 3, 4]);
    set.remove(2);
    set.remove(2);
    expect([set.count, set.bytes, set.prefixBytes, set.isWhole]).toEqual([4, 3500, 2000, false]);
    set.add(2);
    expect(set.isWhole).toBe(true);
  });

  test("of an empty file is complete from the start", () => {
    expect(new ChunkSet(planChunks(0, 1024)).isWhole).toBe(true);
  });
});
