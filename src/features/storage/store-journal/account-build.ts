import type { StagedRecords } from "./staged-records.ts";

/** A staged folder: its number, and whether it was deleted. */
type StagedFolder = ReturnType<StagedRecords["find"]>;

/** Dependencies of {@link AccountBuild}. */
interface AccountBuildOptions {
  readonly accountId: number;
  readonly staged: StagedRecords;
  readonly seq: number;
  readonly nowMs: number;
  readonly base: number;
}

/** The state of one account while its tree is rebuilt. */
export class AccountBuild {
  readonly accountId: number;
  /** A node's id is the sum of this and the number of its staged record. */
  readonly base: number;
  /** Time of changes that the rebuild makes, by the account's own clock, which never goes back. */
  readonly nowMs: number;
  rootId: number | undefined;
  seq: number;
  readonly #staged: StagedRecords;
  readonly #folders = new Map<string, StagedFolder>();

  constructor({ accountId, base, nowMs, seq, staged }: AccountBuildOptions) {
    this.accountId = accountId;
    this.base = base;
    this.nowMs = nowMs;
    this.seq = seq;
    this.#staged = staged;
  }

  /** A folder by its public id. */
  findFolder(publicId: string): StagedFolder {
    if (this.#folders.has(publicId)) return this.#folders.get(publicId);
    const folder = this.#staged.find(publicId);
    this.#folders.set(publicId, folder);
    return folder;
  }

  /** The row id of a folder by its public id; undefined if it was deleted or no record names it. */
  folderId(publicId: string | undefined): number | undefined {
    const folder = publicId === undefined ? undefined : this.findFolder(publicId);
    return folder === undefined || folder.isGone ? undefined : this.base + folder.number;
  }
}
