/**
 * Merges newer objects of the store journal into a database that was restored to an earlier state: files, folders,
 * versions, tags, moves, renames, links, shares, memberships of groups, pictures of people and pins. It deletes only
 * revoked links and shares, deleted groups, ended memberships and removed pictures of people; deletions of files are only
 * counted. A second run changes nothing.
 */
import type { Database } from "bun:sqlite";
import { basename, join } from "node:path";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Layout } from "../../../blobs/layout.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import { emailKey } from "../../accounts/users/email.ts";
import { type MergeResult, AccountMerge } from "./account-merge.ts";
import { BlobFinder } from "./blob-finder.ts";
import { readEndedShares } from "./ended-shares.ts";
import { asideFolderOf, findNewer, markMerged, type NewerObjects } from "./newer-objects.ts";
import { type ContinuingObjects, findContinuing } from "./continuing-objects.ts";
import { GroupMerge, type GroupMergeCounts } from "./group-merge.ts";
import { ProfileMerge, type ProfileMergeCounts } from "./profile-merge.ts";
import { ShareMerge } from "./share-merge.ts";
import {
  ACCOUNTS_FOLDER,
  accountPath,
  chooseObjects,
  type DamagedObject,
  listObjects,
  namesIn,
} from "./object-file.ts";
import type { CopyStart } from "./opened-copy.ts";
import { countRecords, insertAccount, type MissingContent, readAccountRecord, stageObjects } from "./rebuild.ts";
import type { AccountRecord } from "./records.ts";
import type { StoreJournal } from "./service.ts";
import { StagedRecords } from "./staged-records.ts";

/** Dependencies of {@link mergeNewer}. */
interface MergeOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly blobs: Pick<BlobStore, "stat">;
  readonly layout: Layout;
  readonly storeJournal: Pick<StoreJournal, "reconcile">;
  /** `blobs/journal/` */
  readonly root: string;
  readonly epoch: string;
  /** When the database was last restored; undefined if that was not recorded. */
  readonly restoredAtMs: number | undefined;
  /** Path of a working file that no other process uses. */
  readonly workingFile: string;
  /** Merges only this account; undefined for all. */
  readonly email: string | undefined;
  /** Whether nothing is changed. */
  readonly isDryRun: boolean;
  /** A hash that no password has: a new account can be used once it is given a password. */
  readonly passwordHash: string;
  readonly nowMs: number;
  /**
   * The state of the snapshot, for a copy that was just opened and not changed since. Objects that continue the
   * snapshot without a gap are merged whole, deletions and moves included.
   */
  readonly copyStart?: CopyStart | undefined;
  /** Called at intervals with the number of records that were read. */
  readonly onProgress?: (records: number) => void;
}

/** Counts of the changes merged into one account. */
export interface MergedAccount extends MergeResult {
  readonly id: string;
  readonly email: string;
  /** Whether the account was made, without a password. */
  readonly isNew: boolean;
  /** In a copy: when the last merged object was written. */
  readonly untilMs?: number | undefined;
}

/** The result of {@link mergeNewer}, or of its dry run. */
export interface MergeReport {
  readonly accounts: readonly MergedAccount[];
  readonly groups: GroupMergeCounts;
  readonly profiles: ProfileMergeCounts;
  /** Objects that could not be read completely, with the reason. The next run tries them again. */
  readonly damaged: readonly DamagedObject[];
  readonly missing: readonly MissingContent[];
  /** Blobs that were returned from quarantine to the store. */
  readonly returned: number;
}

/** Objects are set aside some seconds after a restore, whose own time may not have been recorded. */
const SET_ASIDE_DELAY_MS = 10_000;

/**
 * Merges all newer objects. No server may run. It may be interrupted at any point and run again.
 * @throws AppError not_found if no account has the email; errors of the system and of SQLite
 */
export async function mergeNewer(options: MergeOptions): Promise<MergeReport> {
  const { sqlite, root, epoch, isDryRun } = options;
  if (!isDryRun) {
    await options.storeJournal.reconcile(options.copyStart !== undefined);
    // They are of programs that worked before the restore, and would prevent changes here.
    sqlite.run("DELETE FROM locks");
  }
  const excluded = new Set(options.copyStart?.setAsideBefore);
  const finder = new BlobFinder(options.blobs, options.layout, isDryRun);
  const damaged: DamagedObject[] = [];
  const accounts = new Map<string, MergedAccount>();
  const staged = new StagedRecords(options.workingFile);
  let people: Pick<MergeReport, "groups" | "profiles">;
  try {
    const newer = (await findNewer(sqlite, root, epoch)).filter((objects) => !excluded.has(asideFolderOf(objects)));
    const chosen = await chooseAccounts(newer, options, damaged);
    const ended = await readEndedShares(root, sqlite);
    const isEnded = (id: string) => ended.has(id);
    people = await mergePeople(isEnded, options, damaged);
    for (const { objects, account } of chosen) {
      const faultsBefore = damaged.length;
      const missingBefore = finder.missing.size;
      const later = await chooseContinuing(objects, options, damaged);
      if (later === undefined || isAfterSnapshot(later, objects, options)) {
        const files = later?.files ?? chooseObjects(await listObjects(objects.path));
        await stageObjects(files, staged, damaged, countRecords(options.onProgress));
        const isFull = files[0]?.isFull === true && damaged.length === faultsBefore;
        const merged = await mergeAccount(objects, account, { ...options, staged, finder, later, isEnded, isFull });
        accounts.set(account.account, addUp(accounts.get(account.account), merged));
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
  return { accounts: [...accounts.values()], ...people, damaged, missing, returned: finder.returned };
}

/** Merges the records of all accounts, or of the requested one. They have no number in a journal. */
async function mergePeople(
  isEnded: (id: string) => boolean,
  options: MergeOptions,
  damaged: DamagedObject[],
): Promise<Pick<MergeReport, "groups" | "profiles">> {
  const { sqlite, root, email } = options;
  const groups = new GroupMerge({ ...options, isEnded });
  const profiles = new ProfileMerge(options);
  if (email === undefined) await groups.removeGroups();
  const recorded = new Set(await namesIn(join(root, ACCOUNTS_FOLDER)));
  const accounts = sqlite
    .query<{ id: string; key: string }, []>("SELECT public_id AS id, email_key AS key FROM users")
    .all()
    .filter(({ key }) => email === undefined || key === emailKey(email));
  await groups.endMemberships(new Set(accounts.map(({ id }) => id)));
  for (const { id } of accounts) {
    if (!recorded.has(basename(accountPath(root, id)))) continue;
    const read = await readAccountRecord(root, id, damaged);
    if (read === undefined) continue;
    await groups.join(read.record);
    await profiles.merge(read.record, read.writtenAtMs);
  }
  return { groups: groups.counts, profiles: profiles.counts };
}

/** Ends the shares of a copy that are noted as ended, also in accounts without newer objects. */
async function endNotedShares(
  options: MergeOptions & { readonly staged: StagedRecords; readonly isEnded: (shareId: string) => boolean },
): Promise<void> {
  const sharing = options.sqlite.query<{ id: number }, []>("SELECT DISTINCT account_id AS id FROM shares").all();
  for (const { id: accountId } of sharing) {
    const none = { unchangedSinceMs: 0, isFull: false, isMade: () => false };
    await new ShareMerge({ ...options, ...none, accountId }).endNoted();
  }
}

/** Finds the account of each set of objects; leaves out accounts with another email than the requested one. */
async function chooseAccounts(
  found: readonly NewerObjects[],
  { sqlite, root, email }: MergeOptions,
  damaged: DamagedObject[],
): Promise<{ objects: NewerObjects; account: AccountRecord }[]> {
  const known = sqlite.query<{ email: string }, [string]>("SELECT email FROM users WHERE public_id = ?1");
  const chosen: { objects: NewerObjects; account: AccountRecord }[] = [];
  for (const objects of found) {
    const { account: id } = objects;
    const existing = known.get(id);
    const account =
      existing === null ? (await readAccountRecord(root, id, damaged))?.record : bareAccount(id, existing.email);
    if (account === undefined) {
      damaged.push({ path: objects.path, fault: "its account is unknown" });
    } else if (email === undefined || emailKey(account.email) === emailKey(email)) chosen.push({ objects, account });
  }
  if (email === undefined || chosen.length > 0) return chosen;
  if (sqlite.query("SELECT 1 FROM users WHERE email_key = ?1").get(emailKey(email)) !== null) return [];
  throw new AppError("not_found", say`No account found for ${email}.`);
}

function bareAccount(account: string, email: string): AccountRecord {
  return { account, email, name: "", role: "user", plan: "free", created: 0, settings: {} };
}

/** The objects that continue the snapshot of a copy; undefined if all objects are to be read. */
async function chooseContinuing(
  { account, path }: NewerObjects,
  { copyStart }: MergeOptions,
  damaged: DamagedObject[],
): Promise<ContinuingObjects | undefined> {
  if (copyStart === undefined) return undefined;
  const later = await findContinuing(path, copyStart.accounts[account]);
  damaged.push(...later.faults);
  return later;
}

/** Whether objects go beyond the snapshot of a copy. Objects that were copied before the snapshot do not. */
function isAfterSnapshot(
  { files, seq }: ContinuingObjects,
  { account }: NewerObjects,
  { copyStart }: MergeOptions,
): boolean {
  return files.length > 0 && seq > (copyStart?.accounts[account]?.seq ?? -1);
}

async function mergeAccount(
  objects: NewerObjects,
  account: AccountRecord,
  options: MergeOptions & {
    readonly staged: StagedRecords;
    readonly finder: BlobFinder;
    readonly later: ContinuingObjects | undefined;
    readonly isEnded: (shareId: string) => boolean;
    readonly isFull: boolean;
  },
): Promise<MergedAccount> {
  const { sqlite, isDryRun, restoredAtMs, later } = options;
  const users = sqlite.query<{ id: number }, [string, string]>(
    "SELECT id FROM users WHERE public_id = ?1 OR email_key = ?2 ORDER BY public_id = ?1 DESC LIMIT 1",
  );
  const known = users.get(account.account, emailKey(account.email))?.id;
  const accountId = known ?? (isDryRun ? 0 : await makeAccount(account, options));
  const latest = objects.asideAtMs ?? options.nowMs;
  const unchangedSinceMs = restoredAtMs === undefined ? latest - SET_ASIDE_DELAY_MS : Math.min(latest, restoredAtMs);
  const merged = await new AccountMerge({ ...options, accountId, unchangedSinceMs }).run();
  return {
    id: account.account,
    email: account.email,
    isNew: known === undefined,
    untilMs: later?.writtenAtMs,
    ...merged,
  };
}

function makeAccount(
  account: AccountRecord,
  { sqlite, writer, treeWriter, passwordHash, isEnded }: MergeOptions & { readonly isEnded: (id: string) => boolean },
): Promise<number> {
  return writer.run((tx) => {
    const id = insertAccount(sqlite, account, { passwordHash }, isEnded);
    treeWriter.createAccountRoot(tx, id);
    return id;
  });
}

function addUp(before: MergedAccount | undefined, after: MergedAccount): MergedAccount {
  if (before === undefined) return after;
  const total = (field: Exclude<keyof MergeResult, "names">) => before[field] + after[field];
  return {
    ...after,
    isNew: before.isNew,
    files: total("files"),
    folders: total("folders"),
    versions: total("versions"),
    labels: total("labels"),
    beside: total("beside"),
    trashed: total("trashed"),
    deletions: total("deletions"),
    moves: total("moves"),
    albums: total("albums"),
    shares: total("shares"),
    revoked: total("revoked"),
    removed: total("removed"),
    moved: total("moved"),
    names: [...before.names, ...after.names],
  };
}

/** The working file of {@link mergeNewer}. @param dataDirectory the data directory */
export function newerWorkingFile(dataDirectory: string): string {
  return join(dataDirectory, "larder.newer-records");
}
