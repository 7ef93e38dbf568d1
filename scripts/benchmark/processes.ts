/**
 * Every process that the bench starts goes through here, so that none outlives it.
 */
import { openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { processTree } from "./measure.ts";

export interface Started {
  pid: number;
  exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/** Without the settings of whoever runs the bench: they would change what is measured. */
function cleanEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([key]) => !/^(LARDER|BUN)_/.test(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, value ?? ""]));
}

const running = new Set<Started>();
let isClosed = false;

export interface SpawnOptions {
  command: string[];
  /** Standard output and error go into this file: a pipe would cost this process CPU while it measures. */
  logPath: string;
  directory?: string;
  environment?: Record<string, string>;
}

function rejectWhenClosed(): void {
  if (isClosed) throw new Error("the bench is ending");
}

/** Starts a process whose life ends with the bench's at the latest. */
export function startProcess(options: SpawnOptions): Started {
  rejectWhenClosed();
  const log = openSync(options.logPath, "a");
  const child = Bun.spawn(options.command, {
    stdin: "ignore",
    stdout: log,
    stderr: log,
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
    env: { ...cleanEnvironment(), ...options.environment },
  });
  const started: Started = { pid: child.pid, exited: child.exited, kill: (signal) => child.kill(signal) };
  track(started);
  return started;
}

/** Counts a process among those that are killed at the end. */
export function track(started: Started): void {
  running.add(started);
  void started.exited.finally(() => running.delete(started));
}

/** Ends a process politely, then by force after `graceMs`. */
export async function stopProcess(started: Started, graceMs = 35_000): Promise<void> {
  started.kill("SIGTERM");
  const timer = setTimeout(() => processTree(started.pid).forEach(killNow), graceMs);
  await started.exited;
  clearTimeout(timer);
}

/** Kills whatever still runs, with all descendants: nginx's workers would live on without their master. */
export async function killAll(): Promise<void> {
  const left = [...running];
  for (const pid of left.flatMap((started) => processTree(started.pid))) killNow(pid);
  await Promise.all(left.map((started) => started.exited));
}

/** As killAll, and from here on nothing can be started any more. */
export async function killAllForGood(): Promise<void> {
  isClosed = true;
  await killAll();
}

function killNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Runs a command to its end and returns its standard output. @throws Error with what it said where it failed */
export async function run(command: string[], input = "", environment: Record<string, string> = {}): Promise<string> {
  rejectWhenClosed();
  const child = Bun.spawn(command, {
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
    env: { ...cleanEnvironment(), ...environment },
  });
  track({ pid: child.pid, exited: child.exited, kill: (signal) => child.kill(signal) });
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0)
    throw new Error(`${command.slice(0, 3).join(" ")} ended with ${code}: ${lastLines(errors || output)}`);
  return output;
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-3).join(" | ").slice(-500);
}

/** A port of the loopback address that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("the system gave no port");
  return address.port;
}

/**
 * Waits for the first 200 at `url`, asking every half a millisecond or so.
 *
 * @throws Error with the end of the process' log where it ends first or `limitMs` pass
 */
export async function waitForResponse(
  started: Started,
  url: string,
  headers: Record<string, string>,
  logPath: string,
  limitMs = 60_000,
): Promise<void> {
  const state: { code?: number } = {};
  const watch = async () => {
    state.code = await started.exited;
  };
  void watch();
  const until = performance.now() + limitMs;
  let last = "no connection";
  while (performance.now() < until && state.code === undefined) {
    try {
      const response = await fetch(url, { headers });
      await response.arrayBuffer();
      if (response.status === 200) return;
      last = `status ${response.status}`;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await Bun.sleep(0.5);
  }
  const log = lastLines(readFileSync(logPath, "utf8"));
  const cause = state.code === undefined ? `gave no 200 in ${limitMs / 1000} s (${last})` : `ended with ${state.code}`;
  throw new Error(`${url} ${cause}: ${log}`);
}
