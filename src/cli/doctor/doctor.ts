import { SQLiteError } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { DerivedStore } from "../../blobs/derived.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { describeSize } from "../../config/quantities.ts";
import { checkSecrets, openSecrets } from "../../config/secrets.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { pendingMigrations } from "../../db/migrate.ts";
import { assertSqliteVersion, openReadOnly } from "../../db/open.ts";
import { examineBucket } from "../../features/storage/remote-store/examine.ts";
import { openSmtp } from "../../features/accounts/mail/smtp.ts";
import { openProvider } from "../../features/accounts/oidc/open.ts";
import type { ThumbnailStatus } from "../../features/media/thumbnails/protocol.ts";
import { ThumbnailService } from "../../features/media/thumbnails/service.ts";
import { examineSnapshots } from "../../features/storage/snapshots/examine.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLog } from "../../lib/log.ts";
import { type DataPaths, dataPaths, openDataDirectory } from "../../server/data/data-directory.ts";
import {
  availableBytes,
  defaultFloorBytes,
  fileSystemKind,
  rejectNetworkFileSystem,
  totalBytes,
} from "../../server/data/filesystem.ts";
import { findRunningServer } from "../../server/data/lock.ts";
import { makeProbeToken } from "../../server/http/public-view.ts";
import { readCloseState } from "../../server/data/run-mark.ts";
import { checkStore, rejectOrphanedStore } from "../../server/data/store-identity.ts";
import { expiryWarning, readTlsPair } from "../../server/net/tls.ts";
import { COMMIT, VERSION } from "../../version.ts";
import { ALL_SETTINGS, type CommandContext, defineCommand, EXIT, type RunningCommand } from "../shared/command.ts";
import { examineAddress } from "./public-address.ts";

/** `wrong` means that something does not work; the exit code is 1 then. */
type State = "ok" | "note" | "wrong";

interface Finding {
  readonly about: string;
  readonly state: State;
  readonly text: string;
}

/** An earlier time means that the machine lost its clock, such as by an empty battery. */
const EARLIEST_CLOCK_MS = Date.UTC(2026, 0, 1);
const THUMBNAIL_PROBE_MS = 20_000;

/** `larder doctor`: checks the machine, changes nothing, and prints its findings. */
export const define = defineCommand({
  description:
    "Check this machine and the configuration for problems. Changes nothing; the server may run at the same time.",
  options: [["--json", "Print the findings as JSON."]],
  settings: ALL_SETTINGS,
  examples: "larder doctor --data /srv/larder",
  problems: "problems found (lines marked WRONG)",
  handlesWarnings: true,
  async run(command) {
    const findings = await examine(command);
    const isWrong = findings.some(({ state }) => state === "wrong");
    const lines = findings.map(({ about, state, text }) => `${MARKS[state]}  ${about}: ${indent(text)}\n`);
    command.print({ ok: !isWrong, findings }, lines.join(""));
    return isWrong ? EXIT.problems : EXIT.success;
  },
});

const MARKS: Record<State, string> = { ok: "ok   ", note: "note ", wrong: "WRONG" };

async function examine(command: RunningCommand): Promise<Finding[]> {
  const { config, loaded, environment } = command;
  const paths = dataPaths(config.data);
  return [
    { about: "program", state: "ok", text: `larder ${VERSION}, commit ${COMMIT}, Bun ${Bun.version}` },
    check("SQLite", () => assertSqliteVersion()),
    ...examineConfig(loaded),
    ...(existsSync(paths.root) ? examineData(config, paths) : [notMadeYet(paths)]),
    ...examineTls(config),
    ...(await examinePublicAddress(config, paths)),
    examineClock(),
    ...(await examineThumbnails(config, paths, environment)),
    ...(await examineMail(config)),
    ...(await examineProvider(config)),
    ...(await examineS3(config, paths)),
  ];
}

function examineConfig({ config, file, warnings }: LoadedConfig): Finding[] {
  const findings: Finding[] = [
    { about: "configuration", state: "ok", text: file ?? "no file; using flags, environment, and defaults" },
    ...warnings.map((text): Finding => ({ about: "configuration", state: "note", text })),
  ];
  const isOpenToOthers =
    !["127.0.0.1", "::1", "localhost"].includes(config.host) && config.socket === null && config.tls.certFile === null;
  if (isOpenToOthers && config.trustedProxies.length === 0) {
    const text = `Listens on ${config.host} without TLS: passwords are sent unencrypted. Put an HTTPS proxy in front and set trustedProxies to its address, or set tls.certFile.`;
    findings.push({ about: "network", state: "note", text });
  }
  if (config.publicUrl?.startsWith("http://") && isOpenToOthers) {
    findings.push({ about: "network", state: "note", text: `publicUrl ${config.publicUrl} does not use HTTPS.` });
  }
  return findings;
}

function examineData(config: Config, paths: DataPaths): Finding[] {
  return [
    check("data directory", () => {
      openDataDirectory(config.data);
      return `${paths.root}, readable and writable`;
    }),
    examineMode(paths),
    check("secrets", () => {
      checkSecrets(paths.secrets);
      return existsSync(paths.secrets) ? "readable only by this user" : "created at the first start";
    }),
    examineFileSystem(config, paths),
    examineRoom(config, paths),
    check("stored files", () => {
      rejectOrphanedStore(paths);
      return "match this database";
    }),
    ...examineCloseState(paths),
    { about: "snapshots", ...examineSnapshots(paths.snapshots) },
    check("server", () => {
      const server = findRunningServer(paths.lock);
      if (server === undefined) return "not running on this data directory";
      return server.pid === undefined ? "running" : `running as process ${server.pid}`;
    }),
  ];
}

function examineTls({ tls: { certFile, keyFile } }: Config): Finding[] {
  if (certFile === null || keyFile === null) return [];
  const about = "certificate";
  try {
    const pair = readTlsPair({ certFile, keyFile });
    const until = `${pair.names}, until ${new Date(pair.expiresAtMs).toISOString().slice(0, 10)}`;
    const warnings = [expiryWarning(pair, Date.now()), ...pair.warnings].filter((text) => text !== undefined);
    return [{ about, state: "ok", text: until }, ...warnings.map((text): Finding => ({ about, state: "note", text }))];
  } catch (error) {
    return [{ about, state: "wrong", text: messageOf(error) }];
  }
}

/** Requests the public address, and reports which server responds. */
async function examinePublicAddress({ publicUrl }: Config, paths: DataPaths): Promise<Finding[]> {
  const about = "public address";
  if (publicUrl === null) {
    return [{ about, state: "ok", text: "publicUrl is not set; links use the address of each request" }];
  }
  if (!existsSync(paths.secrets) || findRunningServer(paths.lock) === undefined) {
    return [
      { about, state: "note", text: `${publicUrl} was not checked: no server is running on this data directory` },
    ];
  }
  const { link } = openSecrets(paths.secrets);
  return (await examineAddress(publicUrl, makeProbeToken(link.secret, Date.now()))).map((finding) => ({
    about,
    ...finding,
  }));
}

/** Connects and signs in to the mail server. Sends no email. */
async function examineMail(config: Config): Promise<Finding[]> {
  return orStartupError("mail", async () => {
    const host = config.mail.host ?? "";
    const smtp = openSmtp(config);
    if (smtp === undefined) return { state: "ok", text: "not configured; share invite and reset links yourself" };
    const why = await smtp.probe();
    if (why === undefined) return { state: "ok", text: `signed in to ${host}` };
    return { state: "wrong", text: `cannot send email through ${host} (${why}). Check the mail.* settings` };
  });
}

/** Reads the discovery document of the OpenID Connect provider. */
async function examineProvider(config: Config): Promise<Finding[]> {
  return orStartupError("single sign-on", async () => {
    const issuer = config.oidc.issuer ?? "";
    const provider = openProvider(config, { clock: systemClock, log: silentLog });
    if (provider === undefined) return undefined;
    const why = await provider.probe();
    if (why !== undefined) return { state: "wrong", text: `cannot use ${issuer} (${why}). Check oidc.issuer` };
    if (!issuer.startsWith("http:")) return { state: "ok", text: `${issuer} responds` };
    return {
      state: "note",
      text: `${issuer} responds, but without HTTPS: an attacker on the network can sign in as any user`,
    };
  });
}

async function examineS3(config: Config, paths: DataPaths): Promise<Finding[]> {
  return orStartupError("bucket", async () => {
    const db = openIfReadable(paths);
    try {
      return await examineBucket(config, db?.sqlite);
    } finally {
      db?.close();
    }
  });
}

/** The finding of `work`; an error in the settings is a finding too. */
async function orStartupError(
  about: string,
  work: () => Promise<Omit<Finding, "about"> | undefined>,
): Promise<Finding[]> {
  try {
    const finding = await work();
    return finding === undefined ? [] : [{ about, ...finding }];
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return [{ about, state: "wrong", text: error.message }];
  }
}

/** The database, to count its blobs; undefined if there is none or it is damaged: {@link examineDatabase} reports that. */
function openIfReadable({ database }: DataPaths): ReturnType<typeof openReadOnly> | undefined {
  try {
    return existsSync(database) ? openReadOnly(database) : undefined;
  } catch (error) {
    if (error instanceof SQLiteError) return undefined;
    throw error;
  }
}

function examineMode({ root }: DataPaths): Finding {
  const mode = statSync(root).mode & 0o7777;
  // The volume of a container is open to all, with the sticky bit, so that any --user can start it. Its files are private.
  const isPrivate = (mode & 0o077) === 0 || (mode & 0o1000) !== 0;
  const text = isPrivate
    ? "accessible only by this user"
    : `other users of this machine can read it (mode ${mode.toString(8)}). Run: chmod 700 ${root}`;
  return { about: "data directory", state: isPrivate ? "ok" : "note", text };
}

function examineFileSystem(config: Config, { root }: DataPaths): Finding {
  try {
    const warning = rejectNetworkFileSystem(root, config.allowNetworkFilesystem);
    return {
      about: "file system",
      state: warning === undefined ? "ok" : "note",
      text: warning ?? fileSystemKind(root).name,
    };
  } catch (error) {
    return { about: "file system", state: "wrong", text: messageOf(error) };
  }
}

function examineRoom(config: Config, paths: DataPaths): Finding {
  const disk = existsSync(paths.blobs) ? paths.blobs : paths.root;
  const available = availableBytes(disk);
  const floor = config.minFreeSpaceBytes ?? defaultFloorBytes(totalBytes(disk));
  const text = `${describeSize(available)} of ${describeSize(totalBytes(disk))} free, ${describeSize(floor)} reserved`;
  if (available > floor) return { about: "disk space", state: "ok", text };
  return {
    about: "disk space",
    state: "wrong",
    text: `${text}: uploads are rejected. Free some space, or run: larder gc --now`,
  };
}

/** Examines the database, except in a copy or a backup: the next start opens a snapshot there. */
function examineCloseState(paths: DataPaths): Finding[] {
  const left = readCloseState(paths, false);
  if (left === "whole") return examineDatabase(paths);
  if (left === "absent") return [];
  const what = left === "backup" ? "a backup" : "a copy taken while a server was running";
  return [
    { about: "database", state: "note", text: `this is ${what}; the next start uses a snapshot of the database` },
  ];
}

function examineDatabase(paths: DataPaths): Finding[] {
  return [
    check("database", () => {
      const db = openReadOnly(paths.database);
      try {
        const pending = pendingMigrations(db.sqlite).length;
        checkStore(db.sqlite, paths);
        const result = db.sqlite.query<{ quick_check: string }, []>("PRAGMA quick_check(5)").all();
        const faults = result.map((row) => row.quick_check).filter((fault) => fault !== "ok");
        if (faults.length > 0) {
          throw new StartupError(
            `${paths.database} is damaged: ${faults.join("; ")}. Stop the server and restore the newest intact snapshot ` +
              `from ${paths.snapshots} or your backup: larder restore --help`,
          );
        }
        return pending === 0 ? "intact" : `intact; the next start upgrades it (${pending} migrations)`;
      } finally {
        db.close();
      }
    }),
  ];
}

function notMadeYet({ root }: DataPaths): Finding {
  return { about: "data directory", state: "note", text: `${root} is created at the first start` };
}

function examineClock(): Finding {
  const nowMs = Date.now();
  const text = `${new Date(nowMs).toISOString()}, time zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
  if (nowMs >= EARLIEST_CLOCK_MS) return { about: "clock", state: "ok", text };
  return { about: "clock", state: "wrong", text: `${text}: this is in the past. Set the clock, or turn on NTP.` };
}

async function examineThumbnails(
  config: Config,
  paths: DataPaths,
  environment: CommandContext["environment"],
): Promise<Finding[]> {
  if (!config.thumbnails.enabled) return [{ about: "thumbnails", state: "note", text: "turned off" }];
  const status = await probeThumbnails(config, paths, environment);
  if (status === undefined) {
    return [
      { about: "thumbnails", state: "wrong", text: "the thumbnail process does not respond. See its output above." },
    ];
  }
  const renderers = {
    sharp: `rendered by sharp${status.libvips === undefined ? "" : ` with libvips ${status.libvips}`}`,
    bun: `only for JPEG, PNG, WebP, GIF, and BMP, because sharp is not available: ${status.reason ?? "unknown reason"}`,
    none: `none: ${status.reason ?? "unknown reason"}`,
  };
  return [
    { about: "thumbnails", state: status.renderer === "sharp" ? "ok" : "note", text: renderers[status.renderer] },
    {
      about: "HEIC photos",
      state: status.heic ? "ok" : "note",
      text: status.heic ? "have thumbnails" : "have no thumbnails on this machine",
    },
    {
      about: "videos",
      state: status.ffmpeg ? "ok" : "note",
      text: status.ffmpeg
        ? "have thumbnails"
        : "have no thumbnails: ffmpeg was not found. Install it (apt install ffmpeg).",
    },
  ];
}

/** Starts a thumbnail process and returns its features; undefined if it does not respond. */
async function probeThumbnails(
  config: Config,
  paths: DataPaths,
  environment: CommandContext["environment"],
): Promise<ThumbnailStatus | undefined> {
  const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
  const thumbnails = new ThumbnailService({
    // It reports its features, and renders nothing.
    blobs: { pathOf: () => "/dev/null", fetchLocal: () => undefined },
    derived: new DerivedStore(paths.thumbs),
    failures: { find: () => undefined, record: () => {} },
    log: silentLog,
    config: {
      concurrency: 1,
      timeoutMs: config.thumbnails.timeoutMs,
      memoryLimitBytes: config.thumbnails.memoryLimitBytes,
      ...(config.nativeDir !== null && { nativeDir: config.nativeDir }),
      ...(config.libvips !== null && { libvips: config.libvips }),
    },
    childCommand: [...program, "thumbnail-worker"],
    environment,
  });
  try {
    return await Promise.race([thumbnails.status(), Bun.sleep(THUMBNAIL_PROBE_MS).then(() => undefined)]);
  } finally {
    await thumbnails.close();
  }
}

/** The text that `work` returns, or its error as `wrong`. */
function check(about: string, work: () => string): Finding {
  try {
    return { about, state: "ok", text: work() };
  } catch (error) {
    return { about, state: "wrong", text: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function indent(text: string): string {
  return text.replaceAll("\n", "\n         ");
}
