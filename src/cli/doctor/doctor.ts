import { SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { DerivedStore } from "../../blobs/derived.ts";
import { openSecrets } from "../../config/secrets.ts";
import type { Config } from "../../config/settings.ts";
import { assertSqliteVersion, openReadOnly } from "../../db/open.ts";
import { openSmtp } from "../../features/accounts/mail/smtp.ts";
import { openProvider } from "../../features/accounts/oidc/open.ts";
import type { ThumbnailStatus } from "../../features/media/thumbnails/protocol.ts";
import { ThumbnailService } from "../../features/media/thumbnails/service.ts";
import { examineBucket } from "../../features/storage/remote-store/examine.ts";
import { LITESTREAM_VERSION } from "../../features/storage/replication/litestream/binary.ts";
import { readReplicaStatus } from "../../features/storage/replication/litestream/status.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLog } from "../../lib/log.ts";
import { requireSameKey } from "../../features/storage/replication/sealed-secrets.ts";
import { findReplicaParts } from "../../server/composition/start-replica.ts";
import { type DataPaths, dataPaths } from "../../server/data/data-directory.ts";
import { findRunningServer } from "../../server/data/lock.ts";
import { findStoreOwner, readBucketOwner } from "../../server/store-lease.ts";
import { withStoredSettings } from "../../server/data/stored-settings.ts";
import { makeProbeToken } from "../../server/http/public-view.ts";
import { expiryWarning, readTlsPair } from "../../server/net/tls.ts";
import { findStandby } from "../../server/standby/standby-state.ts";
import { COMMIT, VERSION } from "../../version.ts";
import { ALL_SETTINGS, defineCommand, EXIT, type RunningCommand } from "../shared/command.ts";
import { toLines } from "../shared/output.ts";
import { dataChecks } from "./data-checks.ts";
import { type Check, type Finding, note, ok, wrong } from "./findings.ts";
import { examineAddress } from "./public-address.ts";
import { messageOf } from "../../lib/error.ts";

/** An earlier time means that the clock was reset, for example because its battery is empty. */
const EARLIEST_CLOCK_MS = Date.UTC(2026, 0, 1);
const THUMBNAIL_PROBE_MS = 20_000;
const MARKS = { ok: "ok   ", note: "note ", wrong: "WRONG" };

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
    const findings: Finding[] = [];
    for (const check of listChecks(command)) findings.push(...(await runCheck(check)));
    const isWrong = findings.some(({ state }) => state === "wrong");
    const lines = findings.map(
      ({ about, state, text }) => `${MARKS[state]}  ${about ?? ""}: ${text.replaceAll("\n", "\n         ")}`,
    );
    command.print({ ok: !isWrong, findings }, toLines(lines));
    return isWrong ? EXIT.problems : EXIT.success;
  },
});

function listChecks({ config, loaded, environment }: RunningCommand): Check[] {
  const paths = dataPaths(config.data);
  const { file, warnings } = loaded;
  return [
    ["program", () => ok(`larder ${VERSION}, commit ${COMMIT}, Bun ${Bun.version}`)],
    ["SQLite", () => ok(assertSqliteVersion())],
    ["configuration", () => [ok(file ?? "no file; using flags, environment, and defaults"), ...warnings.map(note)]],
    ["network", () => examineNetwork(config)],
    ...(existsSync(paths.root) ? dataChecks(config, paths) : [notCreated(paths)]),
    ["certificate", () => examineTls(config)],
    ["public address", () => examinePublicAddress(config, paths)],
    ["clock", examineClock],
    ["thumbnails", () => examineThumbnails(config, paths, environment)],
    ["mail", () => examineMail(withStoredSettings(loaded).config)],
    ["single sign-on", () => examineProvider(config)],
    ["bucket", () => examineS3(config, paths)],
    ["replica", () => examineReplica(config, paths)],
    ["owner", () => examineOwner(config, paths)],
  ];
}

/** The findings of a check, each with what it is about. */
async function runCheck([about, run]: Check): Promise<Finding[]> {
  try {
    const result = (await run()) ?? [];
    return [result].flat().map(({ state, text, about: own = about }) => ({ about: own, state, text }));
  } catch (error) {
    return [{ about, ...wrong(messageOf(error)) }];
  }
}

function notCreated({ root }: DataPaths): Check {
  return ["data directory", () => note(`${root} is created at the first start`)];
}

function examineNetwork({ host, socket, tls, trustedProxies, publicUrl }: Config): Finding[] {
  const isLocal = ["127.0.0.1", "::1", "localhost"].includes(host) || socket !== null;
  if (isLocal || tls.certFile !== null) return [];
  const plain =
    `Listens on ${host} without TLS: passwords are sent unencrypted. Put an HTTPS proxy in front and set ` +
    "trustedProxies to its address, or set tls.certFile.";
  return [
    ...(trustedProxies.length === 0 ? [note(plain)] : []),
    ...(publicUrl?.startsWith("http://") ? [note(`publicUrl ${publicUrl} does not use HTTPS.`)] : []),
  ];
}

function examineTls({ tls: { certFile, keyFile } }: Config): Finding[] {
  if (certFile === null || keyFile === null) return [];
  const pair = readTlsPair({ certFile, keyFile });
  const warnings = [expiryWarning(pair, Date.now()), ...pair.warnings].filter((text) => text !== undefined);
  return [ok(`${pair.names}, until ${new Date(pair.expiresAtMs).toISOString().slice(0, 10)}`), ...warnings.map(note)];
}

/** Requests the public address, and reports which server responds. */
async function examinePublicAddress({ publicUrl }: Config, paths: DataPaths): Promise<Finding | Finding[]> {
  if (publicUrl === null) return ok("publicUrl is not set; links use the address of each request");
  const isServed = findRunningServer(paths.lock) !== undefined && findStandby(paths) === undefined;
  if (!existsSync(paths.secrets) || !isServed) {
    return note(`${publicUrl} was not checked: no server is running on this data directory`);
  }
  const { link } = openSecrets(paths.secrets);
  return examineAddress(publicUrl, makeProbeToken(link.secret, Date.now()));
}

function examineClock(): Finding {
  const nowMs = Date.now();
  const text = `${new Date(nowMs).toISOString()}, time zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
  if (nowMs >= EARLIEST_CLOCK_MS) return ok(text);
  return wrong(`${text}: this is in the past. Set the clock, or turn on NTP.`);
}

/** Connects and signs in to the mail server. Sends no email. */
async function examineMail(config: Config): Promise<Finding> {
  const host = config.mail.host ?? "";
  const smtp = openSmtp(config);
  if (smtp === undefined) return ok("not configured; share invite and reset links yourself");
  const why = await smtp.probe();
  if (why === undefined) return ok(`signed in to ${host}`);
  return wrong(`cannot send email through ${host} (${why}). Check the mail.* settings`);
}

/** Reads the discovery document of the OpenID Connect provider. */
async function examineProvider(config: Config): Promise<Finding | undefined> {
  const issuer = config.oidc.issuer ?? "";
  const provider = openProvider(config, { clock: systemClock, log: silentLog });
  if (provider === undefined) return undefined;
  const why = await provider.probe();
  if (why !== undefined) return wrong(`cannot use ${issuer} (${why}). Check oidc.issuer`);
  if (!issuer.startsWith("http:")) return ok(`${issuer} responds`);
  return note(`${issuer} responds, but without HTTPS: an attacker on the network can sign in as any user`);
}

/** Checks Litestream and the key, and reports what the running server says about the replica. */
async function examineReplica(config: Config, paths: DataPaths): Promise<Finding | undefined> {
  const parts = await findReplicaParts(config);
  if (parts === undefined) return undefined;
  // An owner may have a new key that is used from its next start.
  if ((await findStoreOwner(config))?.isOther === true) await requireSameKey(parts.bucket, parts.key);
  const about = `${config.replica.url}, by ${parts.program} ${LITESTREAM_VERSION}`;
  const status = readReplicaStatus(paths.root, Date.now());
  if (status === undefined) return ok(`${about}; ${findStandby(paths)?.text ?? "no server is running here"}`);
  return status.problem === null ? ok(`${about}; ${status.lagMs} ms late`) : wrong(`${about}: ${status.problem}`);
}

/** Who owns a store with a replica. */
async function examineOwner(config: Config, paths: DataPaths): Promise<Finding | undefined> {
  const owner = await findStoreOwner(config);
  if (owner === undefined) return undefined;
  if (!owner.isOther || findStandby(paths) !== undefined) return ok(owner.text);
  return note(`${owner.text}. To make this machine its standby: larder standby`);
}

async function examineS3(config: Config, paths: DataPaths): Promise<Finding | undefined> {
  const db = openIfReadable(paths);
  try {
    return await examineBucket(config, db?.sqlite, db && readBucketOwner(db.sqlite, paths));
  } finally {
    db?.close();
  }
}

/** The database, to count its blobs; undefined if there is none, or it is damaged, which another check reports. */
function openIfReadable({ database }: DataPaths): ReturnType<typeof openReadOnly> | undefined {
  try {
    return existsSync(database) ? openReadOnly(database) : undefined;
  } catch (error) {
    if (error instanceof SQLiteError) return undefined;
    throw error;
  }
}

async function examineThumbnails(
  config: Config,
  paths: DataPaths,
  environment: RunningCommand["environment"],
): Promise<Finding | Finding[]> {
  if (!config.thumbnails.enabled) return note("turned off");
  const status = await probeThumbnails(config, paths, environment);
  if (status === undefined) return wrong("the thumbnail process does not respond. See its output above.");
  const { renderer, libvips, reason = "unknown reason", heic, ffmpeg, unconfined } = status;
  const renderers = {
    sharp: ok(`rendered by sharp${libvips === undefined ? "" : ` with libvips ${libvips}`}`),
    bun: note(`only for JPEG, PNG, WebP, GIF, and BMP, because sharp is not available: ${reason}`),
    none: note(`none: ${reason}`),
  };
  const without = "have no thumbnails";
  return [
    renderers[renderer],
    {
      about: "reading of files",
      ...(unconfined === undefined ? ok("without network") : note(`not denied the network: ${unconfined}`)),
    },
    { about: "HEIC photos", ...(heic ? ok("have thumbnails") : note(`${without} on this machine`)) },
    {
      about: "videos",
      ...(ffmpeg ? ok("have thumbnails") : note(`${without}: ffmpeg was not found. Install it (apt install ffmpeg).`)),
    },
  ];
}

/** Starts a thumbnail process and returns its features; undefined if it does not respond. */
async function probeThumbnails(
  { thumbnails: { timeoutMs, memoryLimitBytes }, nativeDir, libvips }: Config,
  paths: DataPaths,
  environment: RunningCommand["environment"],
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
      timeoutMs,
      memoryLimitBytes,
      ...(nativeDir !== null && { nativeDir }),
      ...(libvips !== null && { libvips }),
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
