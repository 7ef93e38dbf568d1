/**
 * Links and shares that newer objects name. Those created after the state that the database was restored to are created,
 * those revoked after it end, and changed ones get their later settings. What was made or changed since the restore stays.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { ChangeBatches } from "./change-batches.ts";
import type { FileRecord, FolderRecord, ShareRecord } from "./records.ts";
import { ShareRecords } from "./share-rows.ts";
import type { StagedRecords } from "./staged-records.ts";

/** What {@link NewerShares} works with. */
export interface NewerSharesOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly staged: StagedRecords;
  readonly accountId: number;
  /** What was made after this was made in the present. */
  readonly unchangedSinceMs: number;
  readonly nowMs: number;
  readonly isDryRun: boolean;
  /** Whether the records are everything that the account has: what they don't name is gone. */
  readonly isFull: boolean;
  /** Whether a share is noted to have ended. */
  readonly isEnded: (shareId: string) => boolean;
  /** Whether a node is about to be made; asked where it is not there. */
  readonly isMade: (publicId: string) => boolean;
}

/** How many shares came back, and how many ended. */
export interface NewerShareCounts {
  shares: number;
  revoked: number;
}

interface PresentShare {
  readonly id: string;
  readonly kind: string;
  readonly createdAt: number;
  readonly epoch: number;
}

/** The links and shares of one account. */
export class NewerShares {
  readonly #options: NewerSharesOptions;
  readonly #rows: ShareRecords;
  readonly #node;
  readonly #present;
  readonly #userId;
  readonly #delete;
  readonly #counts: NewerShareCounts = { shares: 0, revoked: 0 };
  readonly #batches: ChangeBatches;

  constructor(options: NewerSharesOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.isDryRun ? undefined : options.writer);
    const { sqlite } = options;
    this.#rows = new ShareRecords(sqlite);
    this.#node = sqlite.prepare<{ id: number }, [string, number]>(
      "SELECT id FROM nodes WHERE public_id = ?1 AND account_id = ?2",
    );
    this.#present = sqlite.prepare<PresentShare, [number]>(
      `SELECT public_id AS id, kind, created_at AS createdAt, grant_epoch AS epoch FROM shares INDEXED BY shares_node
       WHERE node_id = ?1`,
    );
    this.#userId = sqlite.prepare<{ id: number }, [string]>("SELECT id FROM users WHERE public_id = ?1");
    this.#delete = sqlite.prepare<undefined, [string]>("DELETE FROM shares WHERE public_id = ?1");
  }

  /** Applies the records. To be called when all nodes are there. */
  async apply(): Promise<NewerShareCounts> {
    const { staged } = this.#options;
    for (const { record } of staged.all()) {
      this.#compare("file" in record ? record.file : record.folder, record);
      await this.#batches.runFull();
    }
    // A file that was deleted later may be there all the same; its links ended then.
    for (const id of this.#options.isFull ? this.#unnamed() : staged.gone()) {
      this.#compare(id, undefined);
      await this.#batches.runFull();
    }
    await this.#batches.run();
    return this.#counts;
  }

  /** Ends the shares that are noted as ended, even if a record still has them: a revocation alone has no number in the account's journal. */
  async endNoted(): Promise<void> {
    const { sqlite, accountId, isEnded } = this.#options;
    const rows = sqlite
      .query<PresentShare & { node: string }, [number]>(
        `SELECT n.public_id AS node, s.public_id AS id, s.kind, s.created_at AS createdAt, s.grant_epoch AS epoch
         FROM shares s JOIN nodes n ON n.id = s.node_id WHERE s.account_id = ?1`,
      )
      .all(accountId);
    for (const { node, ...share } of rows) if (isEnded(share.id)) this.#end(node, share);
    await this.#batches.run();
  }

  /** Nodes with shares that the records don't name. */
  #unnamed(): string[] {
    const { sqlite, staged, accountId } = this.#options;
    return sqlite
      .query<{ id: string }, [number]>(
        "SELECT DISTINCT n.public_id AS id FROM shares s JOIN nodes n ON n.id = s.node_id WHERE s.account_id = ?1",
      )
      .all(accountId)
      .flatMap(({ id }) => (staged.get(id) === undefined ? [id] : []));
  }

  #compare(publicId: string, record: FileRecord | FolderRecord | undefined): void {
    const recorded = (record?.shares ?? []).filter((share) => this.#isOpen(share));
    const nodeId = this.#node.get(publicId, this.#options.accountId)?.id;
    if (nodeId === undefined) {
      if (this.#options.isDryRun && this.#options.isMade(publicId)) this.#counts.shares += recorded.length;
      return;
    }
    const present = new Map(this.#present.all(nodeId).map((share) => [share.id, share]));
    for (const share of recorded) this.#applyShare(publicId, nodeId, share, present.get(share.id));
    // Records of earlier versions name no shares with a password or a limit.
    if (record !== undefined && record.born === undefined) return;
    const named = new Set(record?.shares?.map(({ id }) => id));
    for (const share of present.values()) if (!named.has(share.id)) this.#end(publicId, share);
  }

  #applyShare(publicId: string, nodeId: number, share: ShareRecord, present: PresentShare | undefined): void {
    const { accountId } = this.#options;
    if (present !== undefined) {
      if (share.epoch > present.epoch) this.#batches.add(() => this.#rows.update(share));
      return;
    }
    const recipientId = share.recipient === undefined ? null : (this.#userId.get(share.recipient)?.id ?? null);
    if (share.recipient !== undefined && recipientId === null) return;
    this.#counts.shares++;
    this.#batches.add((tx) => {
      if (share.kind === "public" && !this.#setPublic(tx, publicId, true)) return;
      this.#rows.insert(accountId, nodeId, share, recipientId);
    });
  }

  #end(publicId: string, { id, kind, createdAt }: PresentShare): void {
    // One that is noted to have ended can't be of the present: ids are never given again.
    if (createdAt > this.#options.unchangedSinceMs && !this.#options.isEnded(id)) return;
    this.#counts.revoked++;
    this.#batches.add((tx) => {
      if (kind === "public") this.#setPublic(tx, publicId, false);
      this.#delete.run(id);
    });
  }

  /** @returns false where the file is not there to be public */
  #setPublic(tx: Transaction, publicId: string, isPublic: boolean): boolean {
    const { tree, treeWriter, accountId } = this.#options;
    const file = tree.findFile(accountId, publicId);
    if (file !== undefined) treeWriter.updateFile(tx, file, { isPublic });
    return file !== undefined;
  }

  #isOpen({ id, expires }: ShareRecord): boolean {
    return !this.#options.isEnded(id) && (expires === undefined || expires > this.#options.nowMs);
  }
}
