import { SQLiteError } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import type { Command } from "commander";
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
import { makePass } from "../../server/http/public-view.ts";
import { readCloseState } from "../../server/data/run-mark.ts";
import { checkStore, rejectOrphanedStore } from "../../server/data/store-identity.ts";
import { expiryWarning, readTlsPair } from "../../server/net/tls.ts";
import { COMMIT, VERSION } from "../../version.ts";
import { addSettings, type CommandContext, describeEnd, EXIT, hasOption, readConfig, runs } from "../shared/command.ts";
import { toJson } from "../shared/output.ts";
import { lookAtPublicAddress } from "./public-address.ts";

/** `ok`: as it should be; `note`: worth knowing; `wrong`: keeps something from working, and the exit code is 1. */
type State = "ok" | "note" | "wrong";

interface Finding {
  readonly about: string;
  readonly state: State;
  readonly text: string;
}

/** No clock of a machine that runs this shows an earlier time; one that does lost it with its battery. */
const EARLIEST_CLOCK_MS = Date.UTC(2026, 0, 1);
const THUMBNAIL_PROBE_MS = 20_000;

/** `larder doctor`: looks, changes nothing, and says what it sees. */
export function define(command: Command, context: CommandContext): void {
  command
    .description(
      "Check this machine and the configuration for problems. Changes nothing; the server may run at the same time.",
    )
    .option("--json", "Print the findings as JSON.");
  addSettings(command);
  describeEnd(command, "larder doctor --data /srv/larder", "problems found (lines marked WRONG)");
  runs(command, async () => {
    const loaded = readConfig(command, context);
    const findings = await examine(loaded, context);
    const isWrong = findings.some(({ state }) => state === "wrong");
    const lines = findings.map(({ about, state, text }) => `${MARKS[state]}  ${about}: ${indent(text)}\n`);
    context.terminal.out(hasOption(command, "json") ? toJson({ ok: !isWrong, findings }) : lines.join(""));
    return isWrong ? EXIT.wrong : EXIT.fine;
  });
}

const MARKS: Record<State, string> = { ok: "ok   ", note: "note ", wrong: "WRONG" };

async function examine(loaded: LoadedConfig, context: CommandContext): Promise<Finding[]> {
  const { config } = loaded;
  const paths = dataPaths(config.data);
  return [
    { about: "program", state: "ok", text: `larder ${VERSION}, commit ${COMMIT}, Bun ${Bun.version}` },
    look("SQLite", () => assertSqliteVersion()),
    ...examineConfig(loaded),
    ...(existsSync(paths.root) ? examineData(config, paths) : [notMadeYet(paths)]),
    ...examineTls(config),
    ...(await examinePublicAddress(config, paths)),
    examineClock(),
    ...(await examineThumbnails(config, paths, context)),
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
    look("data directory", () => {
      openDataDirectory(config.data);
      return `${paths.root}, readable and writable`;
    }),
    examineMode(paths),
    look("secrets", () => {
      checkSecrets(paths.secrets);
      return existsSync(paths.secrets) ? "readable only by this user" : "created at the first start";
    }),
    examineFileSystem(config, paths),
    examineRoom(config, paths),
    look("stored files", () => {
      rejectOrphanedStore(paths);
      return "match this database";
    }),
    ...examineLeft(paths),
    { about: "snapshots", ...examineSnapshots(paths.snapshots) },
    look("server", () => {
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

/** What answers at the address that people use, seen from here. */
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
  return (await lookAtPublicAddress(publicUrl, makePass(link.secret, Date.now()))).map((seen) => ({ about, ...seen }));
}

/** Greeting, encryption and sign-in, as for a mail; none is sent. */
async function examineMail(config: Config): Promise<Finding[]> {
  const about = "mail";
  try {
    const smtp = openSmtp(config);
    if (smtp === undefined)
      return [{ about, state: "ok", text: "not configured; share invite and reset links yourself" }];
    const why = await smtp.probe();
    if (why === undefined) return [{ about, state: "ok", text: `signed in to ${config.mail.host ?? ""}` }];
    return [
      {
        about,
        state: "wrong",
        text: `cannot send email through ${config.mail.host ?? ""} (${why}). Check the mail.* settings`,
      },
    ];
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return [{ about, state: "wrong", text: error.message }];
  }
}

/** Whether the OpenID Connect provider says of itself what is needed. */
async function examineProvider(config: Config): Promise<Finding[]> {
  const about = "single sign-on";
  try {
    const provider = openProvider(config, { clock: systemClock, log: silentLog });
    if (provider === undefined) return [];
    const why = await provider.probe();
    if (why === undefined) {
      const isPlain = config.oidc.issuer?.startsWith("http:") === true;
      const text = `${config.oidc.issuer ?? ""} responds${isPlain ? ", but without HTTPS: an attacker on the network can sign in as any user" : ""}`;
      return [{ about, state: isPlain ? "note" : "ok", text }];
    }
    return [{ about, state: "wrong", text: `cannot use ${config.oidc.issuer ?? ""} (${why}). Check oidc.issuer` }];
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return [{ about, state: "wrong", text: error.message }];
  }
}

async function examineS3(config: Config, paths: DataPaths): Promise<Finding[]> {
  const about = "bucket";
  const db = openIfReadable(paths);
  try {
    const finding = await examineBucket(config, db?.sqlite);
    return finding === undefined ? [] : [{ about, ...finding }];
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return [{ about, state: "wrong", text: error.message }];
  } finally {
    db?.close();
  }
}

/** The database for a count; undefined where there is none, or it is damaged, which is another line's business. */
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
  // A container's volume is open with the sticky bit, so that any --user may begin it; what is in it is private.
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

/** The database of a copy is not the one that the next start opens, and may well look damaged. */
function examineLeft(paths: DataPaths): Finding[] {
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
    look("database", () => {
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

async function examineThumbnails(config: Config, paths: DataPaths, context: CommandContext): Promise<Finding[]> {
  if (!config.thumbnails.enabled) return [{ about: "thumbnails", state: "note", text: "turned off" }];
  const status = await probeThumbnails(config, paths, context);
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

/** Asks the thumbnail process of this very program what it can do; undefined where it doesn't say. */
async function probeThumbnails(
  config: Config,
  paths: DataPaths,
  { environment }: CommandContext,
): Promise<ThumbnailStatus | undefined> {
  const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
  const thumbnails = new ThumbnailService({
    // It is asked what it can do, and given nothing to do.
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

/** What `check` says; `wrong` where it finds that the server could not start like this. */
function look(about: string, check: () => string): Finding {
  try {
    return { about, state: "ok", text: check() };
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
