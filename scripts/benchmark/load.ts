/**
 * Load on a server, by the generator in a process of its own, together with the CPU time that the server spent on it.
 */
import { join } from "node:path";
import type { Job, Outcome } from "./job.ts";
import { cpuSeconds } from "./measure.ts";
import { run } from "./processes.ts";
import type { Server } from "./server.ts";

/** Numbers are never used twice in one run, so that every name and every content is new to every server. */
let nextNumber = 1;
/** No job begins more requests than this. */
const NUMBERS_PER_JOB = 1 << 20;

function takeNumbers(): number {
  nextNumber += NUMBERS_PER_JOB;
  return nextNumber - NUMBERS_PER_JOB;
}

export interface LoadPlan extends Omit<Job, "host" | "port" | "firstNumber"> {
  /** Gives way to others on the CPU: for load whose own latency isn't measured, beside one whose latency is. */
  isBackground?: boolean;
  /** Begins with the first template, whose order counts; contents are then not new to a server that saw such a load. */
  isInOrder?: boolean;
}

export interface Loaded extends Outcome {
  /** Of the server and its children, from before the generator started until after it ended. */
  cpuSeconds: number;
  perSecond: number;
}

/**
 * Puts load on a server until the plan is done.
 *
 * @throws Error where any request failed: a rate with failures in it measures nothing
 */
export async function load(server: Server, plan: LoadPlan): Promise<Loaded> {
  const loaded = await loadLeniently(server, plan);
  if (loaded.failures > 0) {
    throw new Error(`${loaded.failures} of ${loaded.requests} requests failed, the first: ${loaded.firstFailure}`);
  }
  return loaded;
}

/** As load, but requests may fail; `failures` tells how many. */
export async function loadLeniently(server: Server, plan: LoadPlan): Promise<Loaded> {
  const { isBackground = false, isInOrder = false, ...rest } = plan;
  const job: Job = { ...rest, host: server.host, port: server.port, firstNumber: isInOrder ? 0 : takeNumbers() };
  const before = cpuSeconds(server.pid);
  const command = [process.execPath, join(import.meta.dir, "generator.ts")];
  const output = await run(isBackground ? ["nice", "-n", "5", ...command] : command, JSON.stringify(job));
  const spent = cpuSeconds(server.pid) - before;
  const outcome: Outcome = JSON.parse(output);
  return { ...outcome, cpuSeconds: spent, perSecond: (outcome.requests / outcome.elapsedMs) * 1000 };
}

/** Writes out what a file system holds in memory (syncfs), and returns the milliseconds it took. */
export async function syncFileSystem(directory: string): Promise<number> {
  const startedAt = performance.now();
  await run(["sync", "-f", directory]);
  return performance.now() - startedAt;
}
