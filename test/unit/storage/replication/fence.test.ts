import { describe, expect, test } from "bun:test";
import { AppError } from "../../../../src/errors.ts";
import { openWriteFence } from "../../../../src/features/storage/replication/fence.ts";
import type { LeaseState } from "../../../../src/features/storage/replication/types.ts";
import { say } from "../../../../src/translations/say.ts";

/** A lease, a replica and a bucket that record what is asked of them, in order. */
function makeParts(acknowledge: "disk" | "bucket") {
  const calls: string[] = [];
  const lease = {
    state: "valid" as LeaseState,
    problem: undefined as string | undefined,
    /** Runs while the lease is confirmed. */
    during: () => {},
    async confirm() {
      calls.push("lease");
      lease.during();
    },
  };
  const replica = {
    problem: undefined as string | undefined,
    /** Runs while the replica is waited for. */
    during: () => {},
    async sync() {
      calls.push("replica");
      replica.during();
    },
  };
  const parts = { changes: 1, bucketProblem: undefined as string | undefined };
  const fence = openWriteFence({
    lease,
    replica,
    acknowledge,
    countChanges: () => parts.changes,
    bucketProblem: () => parts.bucketProblem,
  });
  return { calls, lease, replica, parts, fence };
}

/** The reason of the error of a confirmation; undefined if it succeeds. */
async function reasonOf(confirmation: Promise<void>): Promise<string | undefined> {
  try {
    await confirmation;
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.reason;
    throw error;
  }
}

describe("acknowledge = bucket", () => {
  test("a change is confirmed by the replica first, then by the lease", async () => {
    const { fence, calls } = makeParts("bucket");
    await fence.confirm();
    expect(calls).toEqual(["replica", "lease"]);
  });

  test("what was confirmed once is not confirmed again", async () => {
    const { fence, calls, parts } = makeParts("bucket");
    await fence.confirm();
    await fence.confirm();
    expect(calls).toHaveLength(2);
    parts.changes++;
    await fence.confirm();
    expect(calls).toHaveLength(4);
  });

  test("a failed confirmation confirms nothing", async () => {
    const { fence, calls, lease } = makeParts("bucket");
    lease.during = () => {
      throw new AppError("provider_unavailable", say`Not now.`);
    };
    expect(await reasonOf(fence.confirm())).toBe("provider_unavailable");
    lease.during = () => {};
    await fence.confirm();
    expect(calls).toEqual(["replica", "lease", "replica", "lease"]);
  });

  test("clients don't learn what the service reported, but when to try again", async () => {
    const { fence, replica } = makeParts("bucket");
    for (const error of [new AppError("provider_unavailable", say`at http://10.0.0.7`), new Error("copies differ")]) {
      replica.during = () => {
        throw error;
      };
      const thrown: unknown = await fence.confirm().catch((caught: unknown) => caught);
      if (!(thrown instanceof AppError)) throw thrown;
      expect(thrown.reason).toBe("provider_unavailable");
      expect(thrown.message).not.toContain("10.0.0.7");
      expect(thrown.details).toEqual({ retryAfter: expect.any(Number) });
      expect(thrown.cause).toBe(error);
    }
  });

  test("a change made during a confirmation needs its own", async () => {
    const { fence, calls, parts, replica } = makeParts("bucket");
    replica.during = () => {
      parts.changes++;
    };
    await fence.confirm();
    replica.during = () => {};
    await fence.confirm();
    expect(calls).toEqual(["replica", "lease", "replica", "lease"]);
  });

  test("a lease that expires during the confirmation acknowledges nothing", async () => {
    const { fence, lease } = makeParts("bucket");
    lease.during = () => {
      lease.state = "expired";
    };
    expect(await reasonOf(fence.confirm())).toBe("provider_unavailable");
    // Also where nothing changed since.
    expect(await reasonOf(fence.confirm())).toBe("provider_unavailable");
  });

  test("the problem is that of the lease, the replica, or the bucket", () => {
    const { fence, lease, replica, parts } = makeParts("bucket");
    expect(fence.problem).toBeUndefined();
    parts.bucketProblem = "bucket";
    expect(fence.problem).toBe("bucket");
    replica.problem = "replica";
    expect(fence.problem).toBe("replica");
    lease.problem = "lease";
    expect(fence.problem).toBe("lease");
  });
});

describe("acknowledge = disk", () => {
  test("only the lease counts, without a request", async () => {
    const { fence, calls, lease, replica, parts } = makeParts("disk");
    [replica.problem, parts.bucketProblem] = ["replica", "bucket"];
    expect(fence.problem).toBeUndefined();
    await fence.confirm();
    expect(calls).toEqual([]);
    lease.state = "expired";
    expect(await reasonOf(fence.confirm())).toBe("provider_unavailable");
  });
});
