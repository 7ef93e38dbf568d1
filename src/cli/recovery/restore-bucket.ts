/**
 * Creates a data directory after the loss of a machine, from a copy of its database, its keys, and the bucket with the
 * blobs. All checks come before the directory is created.
 */
import * as fs from "node:fs";
import { basename, join } from "node:path";
import { Layout } from "../../blobs/layout.ts";
import { findMissingSecrets, SECRET_LOSSES, type SecretName } from "../../config/secrets.ts";
import { StartupError } from "../../config/startup-error.ts";
import { type Db, openDatabase, openReadOnly } from "../../db/open.ts";
import { S3Error } from "../../blobs/s3/error.ts";
import { countNamed, findAbsent } from "../../features/storage/backup/contents.ts";
import { copySecrets } from "../../features/storage/backup/private-files.ts";
import { adoptBucket } from "../../features/storage/remote-store/adopt.ts";
import { type Bucket, openClient } from "../../features/storage/remote-store/open.ts";
import { holderOf, identifyDirectory } from "../../features/storage/replication/directory-identity.ts";
import { claim, findOwner, foreignBucket } from "../../features/storage/remote-store/owner.ts";
import { contentsFolder } from "../../features/storage/remote-store/remote-contents.ts";
import { type DataPaths, dataPaths, openDataDirectory } from "../../server/data/data-directory.ts";
import { readEpoch } from "../../server/data/open-copy.ts";
import { MISSING_MAX, restoreDatabase, type RestoredDatabase } from "../../server/data/restoring.ts";
import { adoptStore, readStoreId } from "../../server/data/store-identity.ts";
import type { ExitCode, RunningCommand } from "../shared/command.ts";
import { everySecond } from "../shared/progress.ts";
import { withLock } from "../shared/services.ts";
import { reportRestored } from "./restore-report.ts";
import { messageOf } from "../../lib/error.ts";

/** An open bucket. */
type OpenBucket = Pick<Bucket, "client" | "name" | "prefix">;

/** Names that the directory may have: settings, keys, the lock, and those of the file system or of an earlier attempt. */
const ALLOWED = /^(lost\+found|larder\.toml|larder\.lock(-journal)?|secrets|blobs|snapshots)$/;

/** Whether a directory has no database and no blobs, so that a database can only be restored together with a bucket. */
export function isWithoutData(data: string): boolean {
  const { root, database, state, blobs, storeMarker } = dataPaths(data);
  if (!fs.existsSync(root)) return true;
  if (fs.existsSync(database) || fs.existsSync(state)) return false;
  if (!fs.readdirSync(root).every((name) => ALLOWED.test(name))) return false;
  return !fs.existsSync(blobs) || fs.readdirSync(blobs).every((name) => join(blobs, name) === storeMarker);
}

/** Makes the data directory. @throws StartupError with the reason, before anything is created */
export async function restoreFromBucket(command: RunningCommand, database: string): Promise<ExitCode> {
  const { config, terminal } = command;
  const file = command.path(database);
  const { storeId, contents } = inspectDatabase(file);
  const givenSecrets = command.text("secrets");
  const secrets = givenSecrets === undefined ? undefined : command.path(givenSecrets);
  const missing = requireSecrets(secrets, dataPaths(config.data), command.has("withoutSecrets"));
  const bucket = openClient(config.s3);
  if (bucket === undefined && contents > 0) throw bucketMissing(file, contents, config.data);
  if (bucket !== undefined) await requireOwn(bucket, storeId);

  const paths = openDataDirectory(config.data);
  return withLock(paths, async () => {
    const warnings = secrets === undefined ? [] : copySecrets(secrets, paths.secrets);
    for (const warning of warnings) terminal.error(`Warning: ${warning}\n`);
    adoptStore(paths, storeId);
    const from = { path: file, name: basename(file), takenAtMs: fs.statSync(file).mtimeMs, isUnknown: true };
    const how = { signOut: command.has("signOut"), isIndependent: false, nowMs: Date.now() };
    const local = restoreDatabase(paths, from, how, command.log());
    const restored = bucket === undefined ? local : await adopt(command, { bucket, paths, local, storeId });
    return reportRestored(
      {
        restored,
        paths,
        secrets: { from: secrets ?? null, new: missing },
        ...(bucket !== undefined && { bucket: { name: bucket.name, claimed: mustClaim(command) } }),
      },
      command,
    );
  });
}

/** Whether the bucket gets a new owner; with --no-claim, the old server still runs and owns it. */
function mustClaim(command: RunningCommand): boolean {
  return command.value("claim") !== false;
}

/** Reads the store id and the number of blobs. @throws StartupError if the file is not a Larder database */
function inspectDatabase(file: string): { storeId: string; contents: number } {
  if (!fs.existsSync(file)) throw new StartupError(`File ${file} does not exist.`);
  let db: Db | undefined;
  try {
    db = openReadOnly(file);
    const storeId = readStoreId(db.sqlite);
    if (storeId !== undefined) return { storeId, contents: countNamed(db.sqlite).contents };
  } catch (error) {
    const cause = messageOf(error);
    throw new StartupError(`${file} is not a database or is damaged (${cause}). Nothing was changed.`, error);
  } finally {
    db?.close();
  }
  throw new StartupError(`${file} is not a Larder database, or no server has used it. Nothing was changed.`);
}

/** @returns the keys that will be new @throws StartupError if keys are missing, unless `isAccepted` */
function requireSecrets(from: string | undefined, paths: DataPaths, isAccepted: boolean): readonly SecretName[] {
  const isHere = fs.existsSync(paths.secrets) && fs.readdirSync(paths.secrets).length > 0;
  if (from !== undefined && isHere) {
    throw new StartupError(
      `${paths.secrets} already contains keys. Leave out --secrets, or move them to another place.`,
    );
  }
  if (from !== undefined && !fs.existsSync(from)) throw new StartupError(`Directory ${from} does not exist.`);
  const folder = from ?? paths.secrets;
  const missing = findMissingSecrets(folder);
  if (missing.length === 0 || isAccepted) return missing;
  const lines = missing.map((name) => `  ${name}.json: ${SECRET_LOSSES[name]}`);
  throw new StartupError(
    `${from === undefined ? "No keys were given" : `Some keys are missing in ${from}`}. Without the old server's secrets/:\n` +
      `${lines.join("\n")}\nNothing was changed. Specify a copy of secrets/ with --secrets DIR, or accept these losses with --without-secrets.`,
  );
}

function bucketMissing(file: string, contents: number, data: string): StartupError {
  return new StartupError(
    `${file} refers to ${contents} blobs, but ${data} has none. Nothing was changed. Where are the blobs?\n` +
      "  In a bucket:   set s3.endpoint, s3.bucket, and the keys (flags, environment, or larder.toml), then run this again\n" +
      `  In a copy:     copy blobs/ (with blobs/.larder-store) and secrets/ to ${data}, then run this again\n` +
      `  In a backup:   larder restore BACKUP --data ${data}`,
  );
}

/** @throws StartupError if the bucket cannot be read, or belongs to another store */
async function requireOwn({ client, name, prefix }: OpenBucket, storeId: string): Promise<void> {
  try {
    const owner = await findOwner(client, prefix);
    if (owner === undefined) {
      throw new StartupError(
        `The bucket "${name}" has no Larder data under "${prefix}". Nothing was changed. Check s3.bucket and s3.prefix.`,
      );
    }
    if (owner === "unreadable" || owner.store !== storeId) throw foreignBucket(name, prefix);
  } catch (error) {
    if (error instanceof S3Error) throw new StartupError(`${error.message} Nothing was changed.`, error);
    throw error;
  }
}

/** Records what the bucket has, and makes this directory its owner. */
async function adopt(
  command: RunningCommand,
  options: {
    readonly bucket: OpenBucket;
    readonly paths: DataPaths;
    readonly local: RestoredDatabase;
    readonly storeId: string;
  },
): Promise<RestoredDatabase> {
  const { paths, local, storeId } = options;
  const { client, prefix } = options.bucket;
  const db = openDatabase(paths.database);
  try {
    await adoptBucket({
      sqlite: db.sqlite,
      client,
      folder: contentsFolder(prefix),
      nowMs: Date.now(),
      onProgress: everySecond(command.terminal, (objects: number) => `${objects} bucket objects listed …`),
    });
    // Last, so that the old server still owns the bucket if the restore fails earlier.
    if (mustClaim(command)) {
      const directory = holderOf(storeId, identifyDirectory(paths.root));
      await claim(client, prefix, { store: storeId, epoch: readEpoch(db.sqlite), directory });
    }
    return { ...local, missing: findAbsent(db.sqlite, new Layout(paths.root), MISSING_MAX) };
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new StartupError(
      `${error.message} The database and the keys were restored to ${paths.root}, but the bucket was not checked. ` +
        `To try again, remove ${paths.root} and run the same command.`,
      error,
    );
  } finally {
    db.close();
  }
}
