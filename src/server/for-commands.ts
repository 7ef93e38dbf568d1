/** The services as commands use them, beside a running server or without one. */
import type { Config } from "../config/settings.ts";
import { systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { openServices, type Services } from "./services.ts";
import { timetable } from "./timetable.ts";

/** What commands work with. */
export interface CommandServices
  extends Pick<
    Services,
    | "users"
    | "auth"
    | "twoFactor"
    | "passwordReset"
    | "oidc"
    | "audit"
    | "events"
    | "invites"
    | "eraseAccount"
    | "close"
  > {
  /** Runs a job of the timetable by name, at once. @returns its result in words */
  runJob(name: string, jobArguments: unknown): Promise<string>;
}

/** How long a command's statement waits for the server's lock. */
const BUSY_TIMEOUT_MS = 5_000;

/** Opens the services for a command. Beside a running server they share its database; nothing is swept or scheduled. */
export async function openForCommand(config: Config, log: Log): Promise<CommandServices> {
  const services = await openServices(config, log, systemClock, BUSY_TIMEOUT_MS);
  return {
    ...services,
    async runJob(name, jobArguments) {
      const job = timetable(services).find((entry) => entry.name === name);
      if (job === undefined) throw new Error(`There is no job named ${name}.`);
      return job.run({
        signal: new AbortController().signal,
        cursor: null,
        setCursor: async () => {},
        arguments: jobArguments,
      });
    },
  };
}
