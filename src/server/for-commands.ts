/** The services for commands, concurrently with a running server or without one. */
import type { LoadedConfig } from "../config/load.ts";
import { systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { dataPaths } from "./data/data-directory.ts";
import { acquireServerLock } from "./data/lock.ts";
import { readCloseState } from "./data/run-mark.ts";
import { openServices, type Services } from "./composition/services.ts";
import { timetable } from "./composition/timetable.ts";

/** The services of commands. */
export interface CommandServices
  extends Pick<
    Services,
    | "config"
    | "users"
    | "auth"
    | "appPasswords"
    | "credentialRevoker"
    | "twoFactor"
    | "passwordLinks"
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
    | "favorites"
    | "albums"
    | "avatars"
    | "mediaInfo"
    | "integrity"
    | "remoteStore"
    | "importRows"
    | "clock"
    | "log"
    | "storeJournal"
    | "close"
  > {
  /** Runs a job of the timetable immediately. @returns its result as text */
  runJob(name: string, jobArguments: unknown): Promise<string>;
}

/** How long a statement of a command waits for the server's lock. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the services for a command. They share the database with a running server, and clean up or schedule nothing.
 * @param holdsLock whether the command holds the lock of the directory
 */
export async function openForCommand(loaded: LoadedConfig, log: Log, holdsLock = false): Promise<CommandServices> {
  const services = await openAlone(loaded, log, holdsLock);
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

/** Opens the services; holds the lock while it prepares a copy, which only one process may do. */
async function openAlone(loaded: LoadedConfig, log: Log, holdsLock: boolean): Promise<Services> {
  const paths = dataPaths(loaded.config.data);
  const open = () => openServices(loaded, log, systemClock, BUSY_TIMEOUT_MS);
  if (holdsLock || !["copied", "backup"].includes(readCloseState(paths))) return open();
  const lock = acquireServerLock(paths.lock);
  try {
    return await open();
  } finally {
    lock.release();
  }
}
