/**
 * Rebuilds the database from the store alone: from the objects in `blobs/journal/` and the blobs. The objects do not
 * contain passwords, sessions, keys, app passwords, devices, messages, webhooks and the deletions of devices, so these are lost.
 */
import { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import { Layout } from "../../../blobs/layout.ts";
import { migrate } from "../../../db/migrate.ts";
import { AppError } from "../../../errors.ts";
import { silentLog } from "../../../lib/log.ts";
import { beginNodeEpoch } from "../../../tree/tables/node-epochs.ts";
import { say } from "../../../translations/say.ts";
import { emailKey } from "../../accounts/users/email.ts";
import { nameKey } from "../../accounts/users/service.ts";
import { putAvatar } from "./avatar-rows.ts";
import { readEndedShares } from "./ended-shares.ts";
import {
  ACCOUNTS_FOLDER,
  accountPath,
  chooseObjects,
  type DamagedObject,
  listObjects,
  namesIn,
  NEWER_FOLDER,
  type ObjectFile,
  readObjects,
} from "./object-file.ts";
import { journalRoot } from "./open.ts";
import { parseAccountRecord } from "./parse-record.ts";
import { insertAlbums } from "./rebuilt-albums.ts";
import type { RebuiltRowsOptions } from "./rebuilt-rows.ts";
import { TreeBuilder, type RebuiltTree } from "./rebuilt-tree.ts";
import { GroupRecords } from "./group-rows.ts";
import type { AccountRecord, FileRecord } from "./records.ts";
import { StagedRecords } from "./staged-records.ts";
import { describeOrphan, findOrphans } from "./orphans-in-journal.ts";

/** Dependencies of {@link rebuildDatabase}. */
interface RebuildOptions {
  /** The data directory; only `blobs/` in it is read. */
  readonly dataDirectory: string;
  /** The file to be made; an existing one is replaced. */
  readonly target: string;
  /** Identity of the store, from its marker. */
  readonly storeId: string;
  /** A hash that no password has: accounts can be used once they are given a password. */
  readonly passwordHash: string;
  readonly nowMs: number;
  /** Email of the account that gets the blobs which no record names, in a folder of their own. */
  readonly recoverFor?: string | undefined;
  /** Called at intervals with the number of records that were read. */
  readonly onProgress?: (records: number) => void;
}

/** A rebuilt account. */
interface RebuiltAccount extends RebuiltTree {
  readonly albums: number;
  readonly id: string;
  readonly email: string;
  readonly role: string;
}

/** A blob that a record names and that is missing or has another size. */
export interface MissingContent {
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly names: readonly string[];
}

/** The result of {@link rebuildDatabase}. */
export interface RebuildReport {
  readonly accounts: readonly RebuiltAccount[];
  /** Objects that could not be read completely, with the reason. */
  readonly damaged: readonly DamagedObject[];
  readonly contents: number;
  readonly missing: number;
  /** The first of the missing blobs. */
  readonly missingSome: readonly MissingContent[];
  /** Blobs that were returned from quarantine to the store. */
  readonly returned: number;
  /** Blobs that no record names. */
  readonly unnamed: { readonly count: number; readonly bytes: number };
}

const REPORTED_MAX = 1_000;
const NAMES_MAX = 5;
const PROGRESS_RECORDS = 10_000;

/**
 * Makes the database. Apart from `target`, it changes only this: blobs in quarantine that a record names return to the
 * store.
 * @throws AppError not_found if no account has the email `recoverFor`; errors of the system and of SQLite, after which the
 *   target is unusable
 */
export async function rebuildDatabase(options: RebuildOptions): Promise<RebuildReport> {
  const { dataDirectory, target, nowMs } = options;
  const root = journalRoot(new Layout(dataDirectory).root);
  for (const suffix of ["", "-journal", "-wal", "-shm"]) fs.rmSync(target + suffix, { force: true });
  const sqlite = new Database(target, { create: true, readwrite: true, strict: true });
  const staged = new StagedRecords(`${target}-records`);
  try {
    for (const pragma of ["journal_mode=OFF", "synchronous=OFF", "cache_size=-65536"]) sqlite.run(`PRAGMA ${pragma}`);
    migrate(sqlite, silentLog);
    sqlite.run("BEGIN");
    noteOrigin(sqlite, options);
    const damaged: DamagedObject[] = [];
    const records = await readAccounts(root, nowMs, damaged);
    const ended = await readEndedShares(root);
    const isEnded = (id: string) => ended.has(id);
    const ids = new Map(records.map((record) => [record.account, insertAccount(sqlite, record, options, isEnded)]));
    const builderOptions: RebuiltRowsOptions = { nowMs, userIdOf: (publicId) => ids.get(publicId) ?? null, isEnded };
    const builder = new TreeBuilder(sqlite, builderOptions);
    const layout = new Layout(dataDirectory);
    const recipient = findRecipient(records, options.recoverFor);
    const accounts: RebuiltAccount[] = [];
    const onRecord = countRecords(options.onProgress);
    // The account that gets the unnamed blobs comes last: those of the others have their rows then.
    for (const record of records.toSorted((a, b) => Number(a === recipient) - Number(b === recipient))) {
      const accountId = ids.get(record.account) ?? 0;
      const files = await listObjects(join(root, record.account));
      const seq = await stageObjects(chooseObjects(files), staged, damaged, onRecord);
      const tree = await builder.build(accountId, staged, seq, async () =>
        record === recipient ? describeOrphans(sqlite, layout, record.account) : [],
      );
      notePosition(sqlite, accountId, record.account, Math.max(0, ...files.map(({ last }) => last)));
      const inserted = insertAlbums(sqlite, accountId, staged, builderOptions);
      const shares = tree.shares + inserted.shares;
      accounts.push({
        ...tree,
        albums: inserted.albums,
        shares,
        id: record.account,
        email: findEmail(sqlite, accountId),
        role: record.role,
      });
      staged.clear();
    }
    noteHistory(sqlite, records, accounts, nowMs);
    sqlite.run("DELETE FROM store_journal_again");
    sqlite.run("DELETE FROM ended_shares");
    sqlite.run("COMMIT");
    return { accounts, damaged, ...(await compareBlobs(sqlite, layout)) };
  } finally {
    staged.close();
    sqlite.close();
  }
}

/** @throws AppError not_found */
function findRecipient(accounts: readonly AccountRecord[], email: string | undefined): AccountRecord | undefined {
  if (email === undefined) return undefined;
  const found = accounts.find((account) => emailKey(account.email) === emailKey(email));
  if (found !== undefined) return found;
  throw new AppError("not_found", say`The metadata journal has no account ${email}.`);
}

async function describeOrphans(sqlite: Database, layout: Layout, by: string): Promise<FileRecord[]> {
  const found: FileRecord[] = [];
  for await (const digest of findOrphans(sqlite, layout)) {
    const record = await describeOrphan(layout, digest, by);
    if (record !== undefined) found.push(record);
  }
  return found;
}

function noteOrigin(sqlite: Database, { storeId, nowMs }: RebuildOptions): void {
  const note = sqlite.query<void, [string, string]>("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)");
  note.run("store_id", storeId);
  // Tokens of the former database, such as sync tokens, are invalid in this one.
  const epoch = randomUUID();
  note.run("epoch", epoch);
  // All nodes got new ids.
  beginNodeEpoch(sqlite, epoch, 0);
  note.run("rebuilt_at", String(nowMs));
}

/** Notes the start of the history of locations: the rebuild, if records lack former locations. */
function noteHistory(
  sqlite: Database,
  records: readonly AccountRecord[],
  accounts: readonly RebuiltAccount[],
  nowMs: number,
): void {
  const isWhole = accounts.every(({ hasHistory }) => hasHistory);
  const since = isWhole ? Math.max(0, ...records.map(({ historySince = 0 }) => historySince)) : nowMs;
  if (since === 0) return;
  sqlite.query<void, [string]>("INSERT INTO meta (key, value) VALUES ('history_since', ?1)").run(String(since));
}

/** All accounts: those with a record of their own, and those of which only files are known. */
async function readAccounts(root: string, nowMs: number, damaged: DamagedObject[]): Promise<AccountRecord[]> {
  const found = new Map<string, AccountRecord>();
  for (const name of await namesIn(join(root, ACCOUNTS_FOLDER))) {
    const id = /^(.+)\.jsonl\.zst$/.exec(name)?.[1];
    if (id === undefined) continue;
    const read = await readAccountRecord(root, id, damaged);
    if (read !== undefined) found.set(read.record.account, read.record);
  }
  for (const name of await namesIn(root)) {
    if (name === ACCOUNTS_FOLDER || name === NEWER_FOLDER || found.has(name)) continue;
    if ((await listObjects(join(root, name))).length > 0) found.set(name, unknownAccount(name, nowMs));
  }
  return [...found.values()].sort((a, b) => a.created - b.created || (a.account < b.account ? -1 : 1));
}

/** The record of an account from its own object, and when that was written, 0 if unknown; undefined if it has none. */
export async function readAccountRecord(
  root: string,
  account: string,
  damaged: DamagedObject[],
): Promise<{ readonly record: AccountRecord; readonly writtenAtMs: number } | undefined> {
  let record: AccountRecord | undefined;
  const path = accountPath(root, account);
  const { fault, writtenAtMs = 0 } = await readObjects(path, (line) => {
    record = parseAccountRecord(line) ?? record;
  });
  if (fault !== undefined) damaged.push({ path, fault });
  return record && { record, writtenAtMs };
}

/** An account whose own record is lost: disabled, with an email that nobody has. */
function unknownAccount(account: string, nowMs: number): AccountRecord {
  const common = { account, email: lostEmail(account), name: account, created: nowMs, disabled: nowMs, settings: {} };
  return { ...common, role: "user", plan: "free", quota: -1 };
}

function lostEmail(account: string): string {
  return `${account.toLowerCase()}@lost.invalid`;
}

/**
 * Inserts the rows of an account without a tree, to which nobody can sign in yet.
 * @param isEnded whether a membership or a group is noted as ended
 * @returns its row id
 */
export function insertAccount(
  sqlite: Database,
  account: AccountRecord,
  { passwordHash }: Pick<RebuildOptions, "passwordHash">,
  isEnded: (id: string) => boolean,
): number {
  const isTaken = sqlite.query("SELECT 1 FROM users WHERE email_key = ?1").get(emailKey(account.email)) !== null;
  const email = isTaken ? lostEmail(account.account) : account.email;
  const row = sqlite
    .query<{ id: number }, (string | number | null)[]>(
      `INSERT INTO users (public_id, email, email_key, name, name_key, role, plan, password_hash, disabled_at, created_at, settings,
         email_unconfirmed_since, has_password)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 0) RETURNING id`,
    )
    .get(
      account.account,
      email,
      emailKey(email),
      account.name,
      nameKey(account.name),
      account.role,
      account.plan,
      passwordHash,
      account.disabled ?? null,
      account.created,
      JSON.stringify(account.settings),
      account.unconfirmedSince ?? null,
    );
  if (row === null) throw new Error("an inserted account has an id");
  new GroupRecords(sqlite).join(row.id, account, isEnded);
  if (account.avatar !== undefined) putAvatar(sqlite, row.id, account.avatar);
  sqlite
    .query<void, (number | null)[]>("INSERT INTO accounts (id, root_id, quota_bytes) VALUES (?1, 0, ?2)")
    .run(row.id, account.quota ?? null);
  return row.id;
}

function findEmail(sqlite: Database, userId: number): string {
  return sqlite.query<{ email: string }, [number]>("SELECT email FROM users WHERE id = ?1").get(userId)?.email ?? "";
}

/** Stages the records of objects, in order. @returns the journal number at which they end */
export async function stageObjects(
  files: readonly ObjectFile[],
  staged: StagedRecords,
  damaged: DamagedObject[],
  onRecord: () => void,
): Promise<number> {
  let reached = 0;
  for (const { path } of files) {
    const { fault, seq = 0 } = await readObjects(path, (line) => {
      staged.put(line);
      onRecord();
    });
    if (fault !== undefined) damaged.push({ path, fault });
    reached = Math.max(reached, seq);
  }
  return reached;
}

/** Returns a function that counts records and reports their number at intervals. */
export function countRecords(onProgress: RebuildOptions["onProgress"]): () => void {
  let records = 0;
  return () => {
    if (++records % PROGRESS_RECORDS === 0) onProgress?.(records);
  };
}

/** Sets the position so that the server writes a full object with the next number; the old objects stay until then. */
function notePosition(sqlite: Database, accountId: number, publicId: string, number: number): void {
  sqlite
    .query<void, [number, string, number]>(
      `INSERT INTO store_journal (account_id, public_id, number, seq, full_bytes, later_bytes, epoch)
       VALUES (?1, ?2, ?3, 0, 0, 0, (SELECT value FROM meta WHERE key = 'epoch'))`,
    )
    .run(accountId, publicId, number);
}

type BlobComparison = Pick<RebuildReport, "contents" | "missing" | "missingSome" | "returned" | "unnamed">;

async function compareBlobs(sqlite: Database, layout: Layout): Promise<BlobComparison> {
  const named = findNamed(sqlite, layout);
  let count = 0;
  let bytes = 0;
  for await (const digest of findOrphans(sqlite, layout)) {
    count++;
    bytes += fs.statSync(layout.blob(digest)).size;
  }
  return { ...named, unnamed: { count, bytes } };
}

function findNamed(sqlite: Database, layout: Layout): Omit<BlobComparison, "unnamed"> {
  const names = sqlite.query<{ name: string }, [number, number]>(
    `SELECT name FROM nodes WHERE blob_id = ?1 UNION
     SELECT n.name FROM versions v JOIN nodes n ON n.id = v.node_id WHERE v.blob_id = ?1 LIMIT ?2`,
  );
  const rows = sqlite.query<{ id: number; digest: Uint8Array; sizeBytes: number }, []>(
    "SELECT id, digest, size_bytes AS sizeBytes FROM blobs WHERE refs > 0",
  );
  let contents = 0;
  let missing = 0;
  let returned = 0;
  const missingSome: MissingContent[] = [];
  for (const { id, digest: bytes, sizeBytes } of rows.iterate()) {
    const digest = digestFromBytes(bytes);
    contents++;
    if (hasSize(layout.blob(digest), sizeBytes)) continue;
    if (hasSize(layout.quarantined(digest), sizeBytes)) {
      fs.mkdirSync(layout.foldersOf(digest)[0], { recursive: true, mode: 0o700 });
      fs.renameSync(layout.quarantined(digest), layout.blob(digest));
      returned++;
      continue;
    }
    missing++;
    if (missingSome.length >= REPORTED_MAX) continue;
    missingSome.push({ digest, sizeBytes, names: names.all(id, NAMES_MAX).map(({ name }) => name) });
  }
  return { contents, missing, missingSome, returned };
}

function hasSize(path: string, sizeBytes: number): boolean {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === sizeBytes;
}
