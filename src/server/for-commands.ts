/** The services as commands use them, beside a running server or without one. */
import type { Config } from "../config/settings.ts";
import { systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { dataPaths } from "./data/data-directory.ts";
import { acquireServerLock } from "./data/lock.ts";
import { readCloseState } from "./data/run-mark.ts";
import { openServices, type Services } from "./composition/services.ts";
import { timetable } from "./composition/timetable.ts";

/** What commands work with. */
export interface CommandServices
  extends Pick<
    Services,
    | "users"
    | "auth"
    | "apiKeys"
    | "twoFactor"
    | "passwordReset"
    | "oidc"
    | "audit"
    | "events"
    | "invites"
    | "eraseAccount"
    | "db"
    | "writer"
    | "tree"
    | "treeWriter"
    | "blobs"
    | "storeGuard"
    | "reservations"
    | "limitsOf"
    | "history"
    | "integrity"
    | "remoteStore"
    | "storeJournal"
    | "close"
  > {
  /** Runs a job of the timetable by name, at once. @returns its result in words */
  runJob(name: string, jobArguments: unknown): Promise<string>;
}

/** How long a command's statement waits for the server's lock. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the services for a command. Beside a running server they share its database; nothing is swept or scheduled.
 * @param holdsLock whether the command keeps servers away from the directory itself
 */
export async function openForCommand(config: Config, log: Log, holdsLock = false): Promise<CommandServices> {
  const services = await openAlone(config, log, holdsLock);
  return {
    ...services,
    async runJob(name, jobArguments) {
      const job = timetable(services).find((entry) => entry.name === name);
      if (job === undefined) throw new Error(`Job ${name} does not exist.`);
      return job.run({
        signal: new AbortController().signal,
        cursor: null,
        setCursor: async () => {},
        arguments: jobArguments,
        isRequested: true,
      });
    },
  };
}

/** A copy is made openable by one process alone; everything else is opened beside others. */
async function openAlone(config: Config, log: Log, holdsLock: boolean): Promise<Services> {
  const paths = dataPaths(config.data);
  const open = () => openServices(config, log, systemClock, BUSY_TIMEOUT_MS);
  if (holdsLock || !["copied", "backup"].includes(readCloseState(paths))) return open();
  const lock = acquireServerLock(paths.lock);
  try {
    return await open();
  } finally {
    lock.release();
  }
}
