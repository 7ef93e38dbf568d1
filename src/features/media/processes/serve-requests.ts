import { readdirSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { messageOf } from "../../../lib/error.ts";
import type { ReplyMessage, RequestMessage } from "./messages.ts";

/** The lowest priority that a process can give itself (setpriority(2)). */
const LOWEST_PRIORITY = 19;
const REASON_MAX = 500;

/**
 * Makes this process one that takes one request after another over IPC and ends with its parent. Returns at once; the
 * process lives until the channel closes. Without a channel it ends with code 2.
 *
 * @param name the command that runs the process
 * @param unconfined why the network could not be denied; undefined if it is
 * @param handle handles a request; `sendPart` sends a part of a reply that is too long for one message
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what a request is, only the handler knows
export function serveRequests<Request, Reply>(
  name: string,
  unconfined: string | undefined,
  handle: (request: Request, sendPart: (part: string) => void) => Promise<Reply>,
): void {
  requireParent(name);
  const send = (message: ReplyMessage<Reply>) => process.send?.(message);
  process.on("message", ({ id, request }: RequestMessage<Request>) => {
    handle(request, (part) => send({ type: "part", id, part })).then(
      (reply) => send({ type: "done", id, reply }),
      (error: unknown) => send({ type: "failed", id, reason: describe(error) }),
    );
  });
  send({ type: "hello", ...(unconfined !== undefined && { unconfined }) });
}

/** Ends this process with its parent, or at once if the server did not start it. */
export function requireParent(name: string): void {
  if (process.send === undefined) {
    process.stderr.write(`${name} is started by the server; there is nothing to do with it by hand.\n`);
    process.exit(2);
  }
  process.on("disconnect", () => process.exit(0));
  // Ctrl+C at a terminal reaches this process too; the server decides when it ends.
  process.on("SIGINT", () => {});
}

/**
 * Lowers the priority of every current thread (on Linux each thread has its own), and makes the out-of-memory killer
 * choose this process first.
 */
export function yieldToOthers(): void {
  try {
    for (const thread of readdirSync("/proc/self/task")) setPriority(Number(thread), LOWEST_PRIORITY);
    writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch (error) {
    // A thread may have ended, or the system has no /proc: the work is done anyway.
    process.stderr.write(`could not lower the priority: ${describe(error)}\n`);
  }
}

/** The message of an error, as one short line. */
export function describe(error: unknown): string {
  return messageOf(error).replaceAll(/\s+/g, " ").trim().slice(0, REASON_MAX);
}
