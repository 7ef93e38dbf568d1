/**
 * A restore drill: creates a data directory from the newest state of a backup, starts a server on it, and downloads
 * files through its API. The server contacts no other machine: it listens on the loopback device, has no mail server, and its
 * queues are empty. The backup is only read.
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Digest, toDigest } from "../blobs/digest.ts";
import { Layout } from "../blobs/layout.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/settings.ts";
import { StartupError } from "../config/startup-error.ts";
import { migrate } from "../db/migrate.ts";
import { openDatabase } from "../db/open.ts";
import { findAbsent } from "../features/storage/backup/contents.ts";
import { countDatabase } from "../features/storage/backup/counts.ts";
import { copyPrivateFile, copySecrets } from "../features/storage/backup/private-files.ts";
import { chooseSample, type Sample } from "../features/storage/backup/sample.ts";
import { forgetBucket, dropQueuedMessages } from "../features/storage/backup/restored-database.ts";
import type { DatabaseCounts, LostContent } from "../features/storage/backup/types.ts";
import type { Log } from "../lib/log.ts";
import { findDatabaseSource } from "./data/database-source.ts";
import { type DataPaths, dataPaths } from "./data/data-directory.ts";
import { openForCommand } from "./for-commands.ts";
import { prepareRestored } from "./data/open-copy.ts";
import { markOpen } from "./data/run-mark.ts";
import { errorCode, messageOf } from "../lib/error.ts";

/** Dependencies of {@link drill}. */
interface DrillOptions {
  /** A backup, or a data directory, whose current state is used. */
  readonly source: DataPaths;
  readonly config: Config;
  /** The same, with its sources. */
  readonly loaded: LoadedConfig;
  /** Maximum number of files to download. */
  readonly sampleCount: number;
  /** The command that starts this program, before `serve`. */
  readonly program: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Interrupts the drill. */
  readonly signal: AbortSignal;
}

/** A file that could not be restored. */
interface FailedSample {
  readonly sample: Sample;
  /** The error. */
  readonly why: string;
}

/** The result of a drill. */
export interface DrillReport {
  readonly snapshot: string;
  readonly takenAtMs: number;
  readonly counts: DatabaseCounts | undefined;
  readonly missing: { readonly count: number; readonly some: readonly LostContent[] };
  readonly fetched: number;
  readonly fetchedBytes: number;
  readonly failures: readonly FailedSample[];
  readonly durationMs: number;
}

const MISSING_MAX = 20;
const START_MS_MAX = 120_000;
const STOP_MS_MAX = 10_000;
const FETCH_MS_MAX = 10 * 60_000;
/** The drill must find everything in an old state: its server deletes nothing by age. */
const NEVER = "3650d";

/**
 * Runs a restore drill. Removes all its files, also after an error.
 * @throws StartupError if it can't start, or was interrupted
 */
export async function drill(options: DrillOptions): Promise<DrillReport> {
  const { source } = options;
  const startedMs = performance.now();
  const root = makeDirectory(source);
  try {
    const paths = dataPaths(root);
    const snapshot = findDatabaseSource(source, 0).take(root);
    fs.renameSync(snapshot.path, paths.database);
    fs.rmSync(`${snapshot.path}.sha256`);
    fs.mkdirSync(paths.blobs, { mode: 0o700 });
    copyPrivateFile(source.storeMarker, paths.storeMarker);
    copySecrets(source.secrets, paths.secrets);
    const { samples, counts, missing } = prepare(paths, snapshot.name, options);
    const results = samples.length === 0 ? [] : await fetchAll(paths, samples, options);
    const failures = results.flatMap(({ sample, why }) => (why === undefined ? [] : [{ sample, why }]));
    return {
      snapshot: snapshot.name,
      takenAtMs: snapshot.takenAtMs,
      counts,
      missing,
      fetched: results.length - failures.length,
      fetchedBytes: results.reduce((sum, { sample, why }) => sum + (why === undefined ? sample.sizeBytes : 0), 0),
      failures,
      durationMs: performance.now() - startedMs,
    };
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

/** Creates a directory next to the source, where blobs can be linked; in the temporary directory if that is not allowed. */
function makeDirectory({ root }: DataPaths): string {
  try {
    return fs.mkdtempSync(`${root}-drill-`);
  } catch (error) {
    if (!["EACCES", "EROFS", "EPERM"].includes(errorCode(error) ?? "")) throw error;
    return fs.mkdtempSync(join(tmpdir(), "larder-drill-"));
  }
}

/** Prepares the database for a server that contacts no other machine, and copies the blobs of the sample. */
function prepare(paths: DataPaths, name: string, { source, sampleCount, config, log }: DrillOptions) {
  markOpen(paths);
  const db = openDatabase(paths.database);
  try {
    const { sqlite } = db;
    migrate(sqlite, log);
    const nowMs = Date.now();
    prepareRestored(sqlite, name, nowMs);
    dropQueuedMessages(sqlite, nowMs);
    const missing = findAbsent(sqlite, new Layout(source.root), MISSING_MAX);
    // A server does not start if its database refers to a bucket that is not configured.
    if (config.s3.bucket === null) forgetBucket(sqlite);
    sqlite.run("UPDATE webhooks SET is_active = 0");
    sqlite.run("DELETE FROM push_targets");
    // Disabled accounts have files too, and these must be restored.
    sqlite.run("UPDATE users SET disabled_at = NULL WHERE email_key NOT LIKE 'erased:%'");
    const samples = chooseSample(sqlite, sampleCount);
    const from = new Layout(source.root);
    const to = new Layout(paths.root);
    for (const { digest } of samples) copyBlob(digest, from, to);
    return { samples, counts: countDatabase(sqlite), missing };
  } finally {
    db.close();
  }
}

/** Copies a blob, also a damaged one: the server must detect that. A missing blob stays missing. */
function copyBlob(digest: Digest, from: Layout, to: Layout): void {
  const path = [from.blob(digest), from.quarantined(digest)].find((one) => fs.existsSync(one));
  if (path === undefined) return;
  fs.mkdirSync(to.foldersOf(digest)[0], { recursive: true, mode: 0o700 });
  try {
    fs.linkSync(path, to.blob(digest));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    fs.copyFileSync(path, to.blob(digest), fs.constants.COPYFILE_FICLONE);
  }
}

/** A downloaded file of the sample. */
interface FetchResult {
  readonly sample: Sample;
  /** The error; undefined if the download succeeded. */
  readonly why: string | undefined;
}

async function fetchAll(paths: DataPaths, samples: readonly Sample[], options: DrillOptions): Promise<FetchResult[]> {
  const tokens = await issueTokens(paths, samples, options);
  const server = await startServer(paths, options);
  try {
    const results: FetchResult[] = [];
    for (const sample of samples) {
      const why = await fetchOne(server.url, sample, tokens.get(sample.accountId) ?? "", options.signal);
      rejectInterrupted(options.signal);
      results.push({ sample, why });
    }
    return results;
  } finally {
    await server.stop();
  }
}

function rejectInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new StartupError("The drill was interrupted. Its temporary files were removed.");
}

async function issueTokens(
  paths: DataPaths,
  samples: readonly Sample[],
  { config, loaded, log }: DrillOptions,
): Promise<Map<number, string>> {
  const services = await openForCommand({ ...loaded, config: { ...config, data: paths.root } }, log, true);
  const tokens = new Map<number, string>();
  try {
    for (const accountId of new Set(samples.map((sample) => sample.accountId))) {
      const user = services.users.findById(accountId);
      if (user !== undefined) tokens.set(accountId, (await services.auth.issueToken(user, "cli")).token);
    }
    return tokens;
  } finally {
    await services.close();
  }
}

async function fetchOne(url: string, sample: Sample, token: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/api/files/${sample.fileId}/download`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS_MAX)]),
    });
    if (response.status !== 200) return `status ${response.status}: ${(await response.text()).slice(0, 300)}`;
    const hasher = new Bun.CryptoHasher("sha256");
    for await (const bytes of response.body ?? []) hasher.update(bytes);
    const got = toDigest(hasher.digest("hex"));
    return got === sample.digest ? undefined : `checksum mismatch: got sha256 ${got}`;
  } catch (error) {
    return messageOf(error);
  }
}

/** The settings of the bucket to read from. `blobs.store` stays disk, so that nothing is written to it. */
function bucketEnvironment({ s3 }: DrillOptions["config"]): Record<string, string> {
  if (s3.bucket === null) return {};
  const settings = {
    LARDER_S3_ENDPOINT: s3.endpoint,
    LARDER_S3_REGION: s3.region,
    LARDER_S3_BUCKET: s3.bucket,
    LARDER_S3_PREFIX: s3.prefix,
    LARDER_S3_ACCESS_KEY_ID: s3.accessKeyId,
    LARDER_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    LARDER_S3_SECRET_ACCESS_KEY_FILE: s3.secretAccessKeyFile,
    LARDER_S3_PATH_STYLE: s3.pathStyle ? "on" : "off",
  };
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => (value === null || value === "" ? [] : [[name, value]])),
  );
}

/** Starts a server in a process of its own, with settings that delete and send nothing. */
async function startServer(
  paths: DataPaths,
  { program, environment, config, signal }: DrillOptions,
): Promise<{ url: string; stop: () => Promise<void> }> {
  rejectInterrupted(signal);
  const inherited = ["PATH", "HOME", "TMPDIR", "LANG", "LARDER_NATIVE_DIR", "LARDER_LIBVIPS"];
  const child = Bun.spawn([...program, "serve", "--data", paths.root, "--host", "127.0.0.1", "--port", "0"], {
    env: {
      ...Object.fromEntries(inherited.map((name) => [name, environment[name]])),
      LARDER_RATE_LIMITS: "off",
      LARDER_LOG_LEVEL: "warn",
      LARDER_TRASH_KEEP: NEVER,
      LARDER_VERSIONS_MAX_AGE: NEVER,
      LARDER_GC_GRACE: NEVER,
      LARDER_ALLOW_NETWORK_FILESYSTEM: "on",
      ...bucketEnvironment(config),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const errorOutput = new Response(child.stderr).text();
  const stop = async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    await child.exited;
    clearTimeout(timer);
  };
  const timer = setTimeout(() => child.kill("SIGKILL"), START_MS_MAX);
  const onEnd = () => child.kill("SIGTERM");
  signal.addEventListener("abort", onEnd);
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  try {
    for (let text = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) rejectInterrupted(signal);
      if (done) throw new StartupError(`The restored server did not start:\n${await errorOutput}`);
      text += decoder.decode(value, { stream: true });
      const url = /listening on (http:\/\/\S+)/.exec(text)?.[1];
      if (url !== undefined) return { url, stop };
    }
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onEnd);
    reader.releaseLock();
  }
}
