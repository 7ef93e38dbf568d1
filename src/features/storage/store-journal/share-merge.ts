/**
 * Merges recorded links and shares. Those created after the restored state are created, those revoked after it end, and
 * changed ones get their later settings. Shares that were created since the restore stay.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { ChangeBatches } from "./change-batches.ts";
import type { FileRecord, FolderRecord, ShareRecord } from "./records.ts";
import { ShareRecords, type ShareTarget } from "./share-rows.ts";
import type { StagedRecords } from "./staged-records.ts";

/** Dependencies of {@link ShareMerge}. */
interface ShareMergeOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly staged: StagedRecords;
  readonly accountId: number;
  /** Shares after this time were created since the restore. */
  readonly unchangedSinceMs: number;
  readonly nowMs: number;
  readonly isDryRun: boolean;
  /** Whether the records are the whole account: a node without a record was deleted. */
  readonly isFull: boolean;
  /** Whether a share is noted as ended. */
  readonly isEnded: (shareId: string) => boolean;
  /** Whether a dry run would make the node; called for missing nodes. */
  readonly isMade: (publicId: string) => boolean;
}

/** Number of shares that were restored, and that ended. */
interface ShareMergeCounts {
  shares: number;
  revoked: number;
}

interface ExistingShare {
  readonly id: string;
  readonly kind: string;
  readonly createdAt: number;
  readonly epoch: number;
}

/** Merges the links and shares of one account. */
export class ShareMerge {
  readonly #options: ShareMergeOptions;
  readonly #rows: ShareRecords;
  readonly #node;
  readonly #findShares;
  readonly #album;
  readonly #findAlbumShares;
  readonly #userId;
  readonly #delete;
  readonly #counts: ShareMergeCounts = { shares: 0, revoked: 0 };
  readonly #batches: ChangeBatches;

  constructor(options: ShareMergeOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.isDryRun ? undefined : options.writer);
    const { sqlite } = options;
    this.#rows = new ShareRecords(sqlite);
    this.#node = sqlite.prepare<{ id: number }, [string, number]>(
      "SELECT id FROM nodes WHERE public_id = ?1 AND account_id = ?2",
    );
    this.#findShares = sqlite.prepare<ExistingShare, [number]>(
      `SELECT public_id AS id, kind, created_at AS createdAt, grant_epoch AS epoch FROM shares INDEXED BY shares_node
       WHERE node_id = ?1`,
    );
    this.#album = sqlite.prepare<{ id: number }, [string, number]>(
      "SELECT id FROM albums WHERE public_id = ?1 AND account_id = ?2",
    );
    this.#findAlbumShares = sqlite.prepare<ExistingShare, [number]>(
      `SELECT public_id AS id, kind, created_at AS createdAt, grant_epoch AS epoch FROM shares INDEXED BY shares_album
       WHERE album_id = ?1`,
    );
    this.#userId = sqlite.prepare<{ id: number }, [string]>("SELECT id FROM users WHERE public_id = ?1");
    this.#delete = sqlite.prepare<undefined, [string]>("DELETE FROM shares WHERE public_id = ?1");
  }

  /** Merges the records. Call when all nodes exist. */
  async apply(): Promise<ShareMergeCounts> {
    const { staged } = this.#options;
    for (const { record } of staged.all()) {
      this.#mergeNode("file" in record ? record.file : record.folder, record);
      await this.#batches.runFull();
    }
    const recorded = new Set<string>();
    for (const { gone: id, album } of staged.albums()) {
      recorded.add(id);
      this.#mergeAlbum(id, album.shares ?? []);
      await this.#batches.runFull();
    }
    // An album that was deleted later may still exist as well.
    for (const id of this.#options.isFull ? this.#albumsWithout(recorded) : staged.gone()) this.#mergeAlbum(id, []);
    // A file that was deleted later may still exist; its links ended with the deletion.
    for (const id of this.#options.isFull ? this.#nodesWithoutRecord() : staged.gone()) {
      this.#mergeNode(id, undefined);
      await this.#batches.runFull();
    }
    await this.#batches.run();
    return this.#counts;
  }

  /**
   * Ends shares that are noted as ended, even if a record has them: a revocation has no number in the account's
   * journal.
   */
  async endNoted(): Promise<void> {
    const { sqlite, accountId, isEnded } = this.#options;
    const rows = sqlite
      .query<ExistingShare & { node: string }, [number]>(
        `SELECT ifnull(n.public_id, '') AS node, s.public_id AS id, s.kind, s.created_at AS createdAt, s.grant_epoch AS epoch
         FROM shares s LEFT JOIN nodes n ON n.id = s.node_id WHERE s.account_id = ?1`,
      )
      .all(accountId);
    for (const { node, ...share } of rows) if (isEnded(share.id)) this.#end(node, share);
    await this.#batches.run();
  }

  /** Ids of nodes that have shares and no record. */
  #nodesWithoutRecord(): string[] {
    const { sqlite, staged, accountId } = this.#options;
    return sqlite
      .query<{ id: string }, [number]>(
        "SELECT DISTINCT n.public_id AS id FROM shares s JOIN nodes n ON n.id = s.node_id WHERE s.account_id = ?1",
      )
      .all(accountId)
      .flatMap(({ id }) => (staged.get(id) === undefined ? [id] : []));
  }

  /** Ids of albums that have shares and are not among these. */
  #albumsWithout(recorded: ReadonlySet<string>): string[] {
    const { sqlite, accountId } = this.#options;
    return sqlite
      .query<{ id: string }, [number]>(
        "SELECT DISTINCT a.public_id AS id FROM shares s JOIN albums a ON a.id = s.album_id WHERE s.account_id = ?1",
      )
      .all(accountId)
      .flatMap(({ id }) => (recorded.has(id) ? [] : [id]));
  }

  /** @param shares all that the record has; none if the album was deleted */
  #mergeAlbum(publicId: string, shares: readonly ShareRecord[]): void {
    const incoming = shares.filter((share) => this.#isOpen(share));
    const albumId = this.#album.get(publicId, this.#options.accountId)?.id;
    if (albumId === undefined) {
      if (this.#options.isDryRun) this.#counts.shares += incoming.length;
      return;
    }
    const existing = new Map(this.#findAlbumShares.all(albumId).map((share) => [share.id, share]));
    for (const share of incoming) this.#mergeShare(publicId, { albumId }, share, existing.get(share.id));
    const named = new Set(shares.map(({ id }) => id));
    for (const share of existing.values()) if (!named.has(share.id)) this.#end(publicId, share);
  }

  #mergeNode(publicId: string, record: FileRecord | FolderRecord | undefined): void {
    const incoming = (record?.shares ?? []).filter((share) => this.#isOpen(share));
    const nodeId = this.#node.get(publicId, this.#options.accountId)?.id;
    if (nodeId === undefined) {
      if (this.#options.isDryRun && this.#options.isMade(publicId)) this.#counts.shares += incoming.length;
      return;
    }
    const existing = new Map(this.#findShares.all(nodeId).map((share) => [share.id, share]));
    for (const share of incoming) this.#mergeShare(publicId, { nodeId }, share, existing.get(share.id));
    // Records of earlier versions of Larder lack shares with a password or a limit.
    if (record !== undefined && record.born === undefined) return;
    const named = new Set(record?.shares?.map(({ id }) => id));
    for (const share of existing.values()) if (!named.has(share.id)) this.#end(publicId, share);
  }

  #mergeShare(publicId: string, target: ShareTarget, share: ShareRecord, existing: ExistingShare | undefined): void {
    const { accountId } = this.#options;
    if (existing !== undefined) {
      if (share.epoch > existing.epoch) this.#batches.add(() => this.#rows.update(share));
      if (share.hiddenBy !== undefined) this.#batches.add(() => this.#rows.hide(share));
      return;
    }
    const recipientId = share.recipient === undefined ? null : (this.#userId.get(share.recipient)?.id ?? null);
    if (share.recipient !== undefined && recipientId === null) return;
    this.#counts.shares++;
    this.#batches.add((tx) => {
      if (share.kind === "public" && !this.#setPublic(tx, publicId, true)) return;
      this.#rows.insert(accountId, target, share, recipientId);
    });
  }

  #end(publicId: string, { id, kind, createdAt }: ExistingShare): void {
    // A share that is noted as ended was not created since the restore: ids are never used again.
    if (createdAt > this.#options.unchangedSinceMs && !this.#options.isEnded(id)) return;
    this.#counts.revoked++;
    this.#batches.add((tx) => {
      if (kind === "public") this.#setPublic(tx, publicId, false);
      this.#delete.run(id);
    });
  }

  /** @returns false if the file is missing */
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
