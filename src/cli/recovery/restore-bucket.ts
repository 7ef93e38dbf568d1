/**
 * A data directory made from what is left of a lost machine: a copy of its database, its keys, and the bucket with the
 * contents. Everything that can be refused is refused before the directory is made.
 */
import * as fs from "node:fs";
import { basename, join, resolve } from "node:path";
import { Layout } from "../../blobs/layout.ts";
import { findMissingSecrets, SECRET_LOSSES, type SecretName } from "../../config/secrets.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { type Db, openDatabase, openReadOnly } from "../../db/open.ts";
import { S3Error } from "../../blobs/s3/error.ts";
import { countNamed, findAbsent } from "../../features/storage/backup/contents.ts";
import { copySecrets } from "../../features/storage/backup/private-files.ts";
import { adoptBucket } from "../../features/storage/remote-store/adopt.ts";
import { type Bucket, openClient } from "../../features/storage/remote-store/open.ts";
import { claim, findOwner, foreignBucket } from "../../features/storage/remote-store/owner.ts";
import { contentsFolder } from "../../features/storage/remote-store/remote-contents.ts";
import type { Log } from "../../lib/log.ts";
import { type DataPaths, dataPaths, openDataDirectory } from "../../server/data/data-directory.ts";
import { acquireServerLock } from "../../server/data/lock.ts";
import { readEpoch } from "../../server/data/open-copy.ts";
import { MISSING_MAX, restoreDatabase, type Restored } from "../../server/data/restoring.ts";
import { adoptStore, readStoreId } from "../../server/data/store-identity.ts";
import type { CommandContext, ExitCode } from "../shared/command.ts";
import { reportRestored } from "./restore-report.ts";

/** How the directory is to be made. */
export interface BucketRestore {
  /** A copy of the database. */
  readonly database: string;
  /** A copy of `secrets/`; undefined where it lies in the data directory already, or is lost. */
  readonly secrets: string | undefined;
  /** Whether new keys are acceptable where old ones are missing. */
  readonly withoutSecrets: boolean;
  /** Whether the bucket still belongs to the old server, because that one runs. */
  readonly noClaim: boolean;
  readonly signOut: boolean;
  readonly isJson: boolean;
}

/** The bucket of the settings; undefined where none is set. */
type Client = Pick<Bucket, "client" | "name" | "prefix">;

/** What may lie in the directory: settings, keys, our lock, and what the file system or an ended attempt left. */
const ALLOWED = /^(lost\+found|larder\.toml|larder\.lock(-journal)?|secrets|blobs|snapshots)$/;
const PROGRESS_MS = 1_000;

/** Whether a directory holds no database and no contents, so that a database can only be restored together with a bucket. */
export function isWithoutData(data: string): boolean {
  const { root, database, state, blobs, storeMarker } = dataPaths(data);
  if (!fs.existsSync(root)) return true;
  if (fs.existsSync(database) || fs.existsSync(state)) return false;
  if (!fs.readdirSync(root).every((name) => ALLOWED.test(name))) return false;
  return !fs.existsSync(blobs) || fs.readdirSync(blobs).every((name) => join(blobs, name) === storeMarker);
}

/** Makes the data directory. @throws StartupError with the reason, before anything is made */
export async function restoreFromBucket(
  config: Config,
  { database, ...options }: BucketRestore,
  log: Log,
  context: CommandContext,
): Promise<ExitCode> {
  const file = resolve(context.directory, database);
  const { storeId, contents } = lookInto(file);
  const secrets = options.secrets === undefined ? undefined : resolve(context.directory, options.secrets);
  const missing = requireSecrets(secrets, dataPaths(config.data), options.withoutSecrets);
  const bucket = openClient(config.s3);
  if (bucket === undefined && contents > 0) throw withoutBucket(file, contents, config.data);
  if (bucket !== undefined) await requireOwn(bucket, storeId);

  const paths = openDataDirectory(config.data);
  const lock = acquireServerLock(paths.lock);
  try {
    const warnings = secrets === undefined ? [] : copySecrets(secrets, paths.secrets);
    for (const warning of warnings) context.terminal.error(`Warning: ${warning}\n`);
    adoptStore(paths, storeId);
    const takenAtMs = fs.statSync(file).mtimeMs;
    const from = { path: file, name: basename(file), takenAtMs, isUnknown: true };
    const how = { signOut: options.signOut, isIndependent: false, nowMs: Date.now() };
    const local = restoreDatabase(paths, from, how, log);
    const restored = bucket === undefined ? local : await adopt({ bucket, paths, local, storeId, ...options }, context);
    return reportRestored(
      {
        restored,
        paths,
        secrets: { from: secrets ?? null, new: missing },
        ...(bucket !== undefined && { bucket: { name: bucket.name, claimed: !options.noClaim } }),
      },
      options.isJson,
      context.terminal,
    );
  } finally {
    lock.release();
  }
}

/** @throws StartupError where the file is no database of Larder's */
function lookInto(file: string): { storeId: string; contents: number } {
  if (!fs.existsSync(file)) throw new StartupError(`File ${file} does not exist.`);
  let db: Db | undefined;
  try {
    db = openReadOnly(file);
    const storeId = readStoreId(db.sqlite);
    if (storeId !== undefined) return { storeId, contents: countNamed(db.sqlite).contents };
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new StartupError(`${file} is not a database or is damaged (${cause}). Nothing was changed.`, error);
  } finally {
    db?.close();
  }
  throw new StartupError(`${file} is not a Larder database, or no server has used it. Nothing was changed.`);
}

/** @returns the keys that will be new @throws StartupError where some are missing and that was not accepted */
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

function withoutBucket(file: string, contents: number, data: string): StartupError {
  return new StartupError(
    `${file} refers to ${contents} blobs, but ${data} has none. Nothing was changed. Where are the blobs?\n` +
      "  In a bucket:   set s3.endpoint, s3.bucket, and the keys (flags, environment, or larder.toml), then run this again\n" +
      `  In a copy:     copy blobs/ (with blobs/.larder-store) and secrets/ to ${data}, then run this again\n` +
      `  In a backup:   larder restore BACKUP --data ${data}`,
  );
}

/** @throws StartupError where the bucket can't be read, or is not the one of this store */
async function requireOwn({ client, name, prefix }: Client, storeId: string): Promise<void> {
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

/** Learns what the bucket has, and makes it this directory's. */
async function adopt(
  {
    bucket: { client, prefix },
    paths,
    local,
    storeId,
    noClaim,
  }: {
    readonly bucket: Client;
    readonly paths: DataPaths;
    readonly local: Restored;
    readonly storeId: string;
    readonly noClaim: boolean;
  },
  { terminal }: CommandContext,
): Promise<Restored> {
  const db = openDatabase(paths.database);
  let nextMs = performance.now() + PROGRESS_MS;
  try {
    const folder = contentsFolder(prefix);
    await adoptBucket({
      sqlite: db.sqlite,
      client,
      folder,
      nowMs: Date.now(),
      onProgress(objects) {
        if (!process.stderr.isTTY || performance.now() < nextMs) return;
        terminal.error(`${objects} bucket objects listed …\n`);
        nextMs = performance.now() + PROGRESS_MS;
      },
    });
    // Last, so that a restore that fails earlier has taken nothing from the old server.
    if (!noClaim) await claim(client, prefix, { store: storeId, epoch: readEpoch(db.sqlite) });
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
