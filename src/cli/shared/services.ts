/** The services and the lock of a data directory, as commands open them. */
import { AppError } from "../../errors.ts";
import type { User } from "../../features/accounts/users/types.ts";
import type { LogLevel } from "../../lib/log.ts";
import type { DataPaths } from "../../server/data/data-directory.ts";
import { acquireServerLock } from "../../server/data/lock.ts";
import { type CommandServices, openForCommand } from "../../server/for-commands.ts";
import { requireOwnStore } from "../../server/store-lease.ts";
import { sayText } from "../../translations/say.ts";
import type { RunningCommand } from "./command.ts";

/**
 * Opens the services for a command, also while a server runs, and closes them afterwards.
 * @param options `holdsLock`: whether the command keeps servers away. `isReading`: whether it changes nothing
 * @throws StartupError if it could change something, and another machine owns the store
 */
export async function withServices<Result>(
  command: RunningCommand,
  work: (services: CommandServices) => Promise<Result>,
  {
    holdsLock = false,
    logLevel = "warn",
    isReading = false,
  }: { readonly holdsLock?: boolean; readonly logLevel?: LogLevel; readonly isReading?: boolean } = {},
): Promise<Result> {
  if (!isReading) await requireOwnStore(command.config);
  const services = await openForCommand(command.loaded, command.log(logLevel), holdsLock);
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

/** Keeps servers away from a data directory during `work`. @throws StartupError if one is running */
export async function withLock<Result>(
  { lock: path }: DataPaths,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const lock = acquireServerLock(path);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** The account with this email address. @throws AppError not_found */
export function requireUser(users: CommandServices["users"], email: string): User {
  const user = users.findByEmail(email);
  if (user !== undefined) return user;
  throw new AppError("not_found", sayText(`No account found for ${email}. To list accounts: larder user list`));
}
