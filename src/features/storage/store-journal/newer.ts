/**
 * Merges changes into a database that was restored to an earlier state, from the objects of the store journal that are newer
 * than that state: files, folders, versions, labels, moves, renames, links and shares. It removes nothing but revoked links
 * and shares; deletions are only counted. A second run finds nothing to do.
 */
import type { Database } from "bun:sqlite";
import { join } from "node:path";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Layout } from "../../../blobs/layout.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { emailKey } from "../../accounts/users/email.ts";
import { type MergeResult, AccountMerge } from "./account-merge.ts";
import { ContentFinder } from "./content-finder.ts";
import { readEndedShares } from "./ended-shares.ts";
import { asideFolderOf, findNewer, markMerged, type NewerObjects } from "./newer-objects.ts";
import { type LaterObjects, readLater } from "./later-objects.ts";
import { NewerShares } from "./newer-shares.ts";
import { chooseObjects, listObjects, type ObjectFile, readObjects } from "./object-file.ts";
import type { CopyStart } from "./opened-copy.ts";
import { parseAccountRecord } from "./parse-record.ts";
import { insertAccount, type MissingContent } from "./rebuild.ts";
import type { AccountRecord } from "./records.ts";
import { accountPath, type StoreJournal } from "./service.ts";
import { StagedRecords } from "./staged-records.ts";

/** What {@link mergeNewer} works with. */
export interface NewerOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly blobs: Pick<BlobStore, "stat">;
  readonly layout: Layout;
  readonly storeJournal: Pick<StoreJournal, "settle">;
  /** `blobs/journal/` */
  readonly root: string;
  readonly epoch: string;
  /** When the database was last put back; undefined where nobody noted it. */
  readonly putBackAtMs: number | undefined;
  /** A working file that nobody else has. */
  readonly workingFile: string;
  /** Only this account's; undefined for all. */
  readonly email: string | undefined;
  /** Whether to look only. */
  readonly isDryRun: boolean;
  /** A hash that no password has: an account that is made again is open once it is given one. */
  readonly passwordHash: string;
  readonly nowMs: number;
  /**
   * For a copy that was just opened and that nobody has changed: where its snapshot stood. What follows it without a gap is
   * carried out whole, deletions and moves included.
   */
  readonly copyStart?: CopyStart | undefined;
  /** Reported now and then how many lines were gone through. */
  readonly onProgress?: (records: number) => void;
}

/** What was merged into one account. */
export interface NewerAccount extends MergeResult {
  readonly id: string;
  readonly email: string;
  /** Whether it was not in the database: it has no password. */
  readonly isNew: boolean;
  /** In a copy: when the last object that was merged was written. */
  readonly untilMs?: number | undefined;
}

/** What {@link mergeNewer} did, or would do. */
export interface NewerReport {
  readonly accounts: readonly NewerAccount[];
  /** Objects of which not everything could be read, with the reason. The next run tries them again. */
  readonly damaged: readonly { readonly path: string; readonly fault: string }[];
  readonly missing: readonly MissingContent[];
  /** Contents that were set aside for removal and are back in their places. */
  readonly returned: number;
}

/** Where nobody noted when the database was put back: the objects are set aside some seconds later. */
const NOTICED_MS = 10_000;
const PROGRESS_RECORDS = 10_000;

/**
 * Merges what newer objects name. No server may run. It may be interrupted at any point and run again.
 * @throws AppError not_found where newer objects tell of no account with the e-mail; errors of the system and of SQLite
 */
export async function mergeNewer(options: NewerOptions): Promise<NewerReport> {
  const { sqlite, root, epoch, isDryRun } = options;
  if (!isDryRun) await options.storeJournal.settle(options.copyStart !== undefined);
  const before = new Set(options.copyStart?.setAsideBefore);
  const finder = new ContentFinder(options.blobs, options.layout, isDryRun);
  const damaged: { path: string; fault: string }[] = [];
  const accounts = new Map<string, NewerAccount>();
  const staged = new StagedRecords(options.workingFile);
  try {
    const found = (await findNewer(sqlite, root, epoch)).filter((objects) => !before.has(asideFolderOf(objects)));
    const wanted = await chooseAccounts(found, options, damaged);
    const ended = await readEndedShares(root, sqlite);
    const isEnded = (shareId: string) => ended.has(shareId);
    for (const { objects, person } of wanted) {
      const faultsBefore = damaged.length;
      const missingBefore = finder.missing.size;
      const later = await chooseLater(objects, options, damaged);
      if (later === undefined || hasMore(later, objects, options)) {
        const files = later?.files ?? chooseObjects(await listObjects(objects.path));
        await stage(files, staged, damaged, options);
        const isFull = files[0]?.isFull === true && damaged.length === faultsBefore;
        const merged = await mergeAccount(objects, person, { ...options, staged, finder, later, isEnded, isFull });
        accounts.set(person.account, addUp(accounts.get(person.account), merged));
        staged.clear();
      }
      const isAll = damaged.length === faultsBefore && finder.missing.size === missingBefore;
      if (!isDryRun && isAll) await markMerged(objects);
    }
    if (options.copyStart !== undefined) await endNotedShares({ ...options, staged, isEnded });
  } finally {
    staged.close();
  }
  const missing = [...finder.missing.entries()].map(([digest, content]) => ({ digest, ...content }));
  return { accounts: [...accounts.values()], damaged, missing, returned: finder.returned };
}

/** In a copy, also of accounts of which no object is newer. */
async function endNotedShares(
  options: NewerOptions & { readonly staged: StagedRecords; readonly isEnded: (shareId: string) => boolean },
): Promise<void> {
  const sharing = options.sqlite.query<{ id: number }, []>("SELECT DISTINCT account_id AS id FROM shares").all();
  for (const { id: accountId } of sharing) {
    const none = { unchangedSinceMs: 0, isFull: false, isMade: () => false };
    await new NewerShares({ ...options, ...none, accountId }).endNoted();
  }
}

/** Whose objects they are; without those of others than the wanted. */
async function chooseAccounts(
  found: readonly NewerObjects[],
  { sqlite, root, email }: NewerOptions,
  damaged: { path: string; fault: string }[],
): Promise<{ objects: NewerObjects; person: AccountRecord }[]> {
  const known = sqlite.query<{ email: string }, [string]>("SELECT email FROM users WHERE public_id = ?1");
  const chosen: { objects: NewerObjects; person: AccountRecord }[] = [];
  for (const objects of found) {
    const { account } = objects;
    const there = known.get(account);
    const person = there === null ? await readPerson(root, account, damaged) : bare(account, there.email);
    if (person === undefined) {
      damaged.push({ path: objects.path, fault: "its account is unknown" });
    } else if (email === undefined || emailKey(person.email) === emailKey(email)) chosen.push({ objects, person });
  }
  if (email === undefined || chosen.length > 0) return chosen;
  if (sqlite.query("SELECT 1 FROM users WHERE email_key = ?1").get(emailKey(email)) !== null) return [];
  throw new AppError("not_found", `No account found for ${email}.`);
}

function bare(account: string, email: string): AccountRecord {
  return { account, email, name: "", role: "user", plan: "free", created: 0, settings: {} };
}

async function readPerson(
  root: string,
  account: string,
  damaged: { path: string; fault: string }[],
): Promise<AccountRecord | undefined> {
  let person: AccountRecord | undefined;
  const path = accountPath(root, account);
  const { fault } = await readObjects(path, (line) => {
    person = parseAccountRecord(line) ?? person;
  });
  if (fault !== undefined) damaged.push({ path, fault });
  return person;
}

/** For a copy, the objects that continue its snapshot; undefined where all are to be read. */
async function chooseLater(
  { account, path }: NewerObjects,
  { copyStart }: NewerOptions,
  damaged: { path: string; fault: string }[],
): Promise<LaterObjects | undefined> {
  if (copyStart === undefined) return undefined;
  const later = await readLater(path, copyStart.accounts[account]);
  damaged.push(...later.faults);
  return later;
}

/** Objects may have been copied before the snapshot: then they tell of an earlier state. */
function hasMore({ files, seq }: LaterObjects, { account }: NewerObjects, { copyStart }: NewerOptions): boolean {
  return files.length > 0 && seq > (copyStart?.accounts[account]?.seq ?? -1);
}

async function stage(
  files: readonly ObjectFile[],
  staged: StagedRecords,
  damaged: { path: string; fault: string }[],
  { onProgress }: NewerOptions,
): Promise<void> {
  let records = 0;
  for (const object of files) {
    const { fault } = await readObjects(object.path, (line) => {
      staged.put(line);
      if (++records % PROGRESS_RECORDS === 0) onProgress?.(records);
    });
    if (fault !== undefined) damaged.push({ path: object.path, fault });
  }
}

async function mergeAccount(
  objects: NewerObjects,
  person: AccountRecord,
  options: NewerOptions & {
    readonly staged: StagedRecords;
    readonly finder: ContentFinder;
    readonly later: LaterObjects | undefined;
    readonly isEnded: (shareId: string) => boolean;
    readonly isFull: boolean;
  },
): Promise<NewerAccount> {
  const { sqlite, isDryRun, putBackAtMs, later } = options;
  const users = sqlite.query<{ id: number }, [string, string]>(
    "SELECT id FROM users WHERE public_id = ?1 OR email_key = ?2 ORDER BY public_id = ?1 DESC LIMIT 1",
  );
  const known = users.get(person.account, emailKey(person.email))?.id;
  const accountId = known ?? (isDryRun ? 0 : await makeAccount(person, options));
  const latest = objects.asideAtMs ?? options.nowMs;
  const unchangedSinceMs = putBackAtMs === undefined ? latest - NOTICED_MS : Math.min(latest, putBackAtMs);
  const merged = await new AccountMerge({ ...options, accountId, unchangedSinceMs }).run();
  return {
    id: person.account,
    email: person.email,
    isNew: known === undefined,
    untilMs: later?.writtenAtMs,
    ...merged,
  };
}

function makeAccount(
  person: AccountRecord,
  { sqlite, writer, treeWriter, passwordHash }: NewerOptions,
): Promise<number> {
  return writer.run((tx) => {
    const id = insertAccount(sqlite, person, { passwordHash });
    treeWriter.createAccountRoot(tx, id);
    return id;
  });
}

function addUp(before: NewerAccount | undefined, after: NewerAccount): NewerAccount {
  if (before === undefined) return after;
  const sum = (field: Exclude<keyof MergeResult, "names">) => before[field] + after[field];
  return {
    ...after,
    isNew: before.isNew,
    files: sum("files"),
    folders: sum("folders"),
    versions: sum("versions"),
    labels: sum("labels"),
    beside: sum("beside"),
    trashed: sum("trashed"),
    deletions: sum("deletions"),
    moves: sum("moves"),
    shares: sum("shares"),
    revoked: sum("revoked"),
    removed: sum("removed"),
    moved: sum("moved"),
    names: [...before.names, ...after.names],
  };
}

/** A file for the work of {@link mergeNewer}. @param dataDirectory the data directory */
export function newerWorkingFile(dataDirectory: string): string {
  return join(dataDirectory, "larder.newer-records");
}
