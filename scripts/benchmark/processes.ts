/**
 * Starts all processes of the benchmark, and ends them with it.
 */
import { openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { processTree } from "./measure.ts";

export interface StartedProcess {
  pid: number;
  exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/** The environment without settings of Larder and Bun, which would change the results. */
function cleanEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([key]) => !/^(LARDER|BUN)_/.test(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, value ?? ""]));
}

const running = new Set<StartedProcess>();
let isClosed = false;

export interface SpawnOptions {
  command: string[];
  /** The file for standard output and error; a pipe would use CPU of the benchmark during measurements. */
  logPath: string;
  directory?: string;
  environment?: Record<string, string>;
}

function rejectWhenClosed(): void {
  if (isClosed) throw new Error("the benchmark is stopping");
}

/** Starts a process that ends with the benchmark at the latest. */
export function startProcess(options: SpawnOptions): StartedProcess {
  rejectWhenClosed();
  const log = openSync(options.logPath, "a");
  const child = Bun.spawn(options.command, {
    stdin: "ignore",
    stdout: log,
    stderr: log,
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
    env: { ...cleanEnvironment(), ...options.environment },
  });
  const started: StartedProcess = { pid: child.pid, exited: child.exited, kill: (signal) => child.kill(signal) };
  track(started);
  return started;
}

/** Adds a process to those that are killed at the end. */
export function track(started: StartedProcess): void {
  running.add(started);
  void started.exited.finally(() => running.delete(started));
}

/** Sends a process SIGTERM, and SIGKILL after `graceMs`. */
export async function stopProcess(started: StartedProcess, graceMs = 35_000): Promise<void> {
  started.kill("SIGTERM");
  const timer = setTimeout(() => processTree(started.pid).forEach(killNow), graceMs);
  await started.exited;
  clearTimeout(timer);
}

/** Kills all running processes with their descendants; nginx's workers would otherwise survive their parent. */
export async function killAll(): Promise<void> {
  const remaining = [...running];
  for (const pid of remaining.flatMap((started) => processTree(started.pid))) killNow(pid);
  await Promise.all(remaining.map((started) => started.exited));
}

/** Kills all running processes, and lets none start afterward. */
export async function killAllAndClose(): Promise<void> {
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

/** Runs a command, and returns its standard output. @throws Error with its last lines if it fails */
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
    throw new Error(`${command.slice(0, 3).join(" ")} exited with ${code}: ${lastLines(errors || output)}`);
  return output;
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-3).join(" | ").slice(-500);
}

/** Returns a free port of the loopback address. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("the system assigned no port");
  return address.port;
}

/**
 * Requests `url` about every half a millisecond until the status is 200.
 *
 * @throws Error with the end of the process's log if the process exits or `limitMs` pass before
 */
export async function waitForResponse(
  started: StartedProcess,
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
  const cause =
    state.code === undefined ? `had no status 200 in ${limitMs / 1000} s (${last})` : `exited with ${state.code}`;
  throw new Error(`${url} ${cause}: ${log}`);
}
