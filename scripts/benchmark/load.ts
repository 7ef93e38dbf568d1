/**
 * Runs the load generator against a server, and measures the server's CPU time.
 */
import { join } from "node:path";
import type { Job, JobResult } from "./job.ts";
import { cpuSeconds } from "./measure.ts";
import { run } from "./processes.ts";
import type { Server } from "./server.ts";

/** Numbers are used once in a run, so that all names and contents are new to each server. */
let nextNumber = 1;
/** The maximum number of requests in a job. */
const NUMBERS_PER_JOB = 1 << 20;

function takeNumbers(): number {
  nextNumber += NUMBERS_PER_JOB;
  return nextNumber - NUMBERS_PER_JOB;
}

export interface LoadPlan extends Omit<Job, "host" | "port" | "firstNumber"> {
  /** Runs at a lower CPU priority: for load whose latency isn't measured, while the latency of other load is. */
  isBackground?: boolean;
  /** Sends the templates in order, beginning with the first. The numbers, and so the contents, repeat in each load. */
  isInOrder?: boolean;
}

export interface LoadResult extends JobResult {
  /** CPU time of the server and its children, from before the generator starts until after it ends. */
  cpuSeconds: number;
  perSecond: number;
}

/**
 * Sends the planned load to a server.
 *
 * @throws Error if any request failed, as a rate with failures is not comparable
 */
export async function load(server: Server, plan: LoadPlan): Promise<LoadResult> {
  const loaded = await loadLeniently(server, plan);
  if (loaded.failures > 0) {
    throw new Error(`${loaded.failures} of ${loaded.requests} requests failed, the first: ${loaded.firstFailure}`);
  }
  return loaded;
}

/** Sends the planned load to a server, and counts failed requests in `failures`. */
export async function loadLeniently(server: Server, plan: LoadPlan): Promise<LoadResult> {
  const { isBackground = false, isInOrder = false, ...rest } = plan;
  const job: Job = { ...rest, host: server.host, port: server.port, firstNumber: isInOrder ? 0 : takeNumbers() };
  const before = cpuSeconds(server.pid);
  const command = [process.execPath, join(import.meta.dir, "generator.ts")];
  const output = await run(isBackground ? ["nice", "-n", "5", ...command] : command, JSON.stringify(job));
  const spent = cpuSeconds(server.pid) - before;
  const outcome: JobResult = JSON.parse(output);
  return { ...outcome, cpuSeconds: spent, perSecond: (outcome.requests / outcome.elapsedMs) * 1000 };
}

/** Writes a file system's cached data to the disk (syncfs). @returns the time in milliseconds */
export async function syncFileSystem(directory: string): Promise<number> {
  const startedAt = performance.now();
  await run(["sync", "-f", directory]);
  return performance.now() - startedAt;
}
