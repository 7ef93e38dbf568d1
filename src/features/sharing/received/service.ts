/**
 * Shares between accounts, from the side of their recipients, who list and leave them here. `permissions` decides what
 * they allow. A share for an email without an account waits until an account is created with it. With mail.verify, it
 * waits until the owner of the account has confirmed the email, which may be a new or a changed one. Without mail.verify,
 * nobody confirms addresses: a new account gets what waits for its first email, and a changed email gets nothing,
 * because otherwise anybody could collect shares for others. A start without mail.verify applies these rules to shares
 * that waited while it was on. When an administrator confirms an email, its account gets what waits.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { notFound } from "../../../errors.ts";
import type { EventOf, ShareFacts } from "../../../events/catalogue.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import { asReceived } from "../../library/albums/views.ts";
import { sharedView } from "../../library/permissions/view.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";
import { emailKey } from "../../accounts/users/email.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import type { ShareTargets } from "../shares/targets.ts";
import { receivedQueries } from "./queries.ts";
import type { ReceivedAlbum, ReceivedRow, ReceivedShare } from "./types.ts";
import type { SharedItem } from "../shares/types.ts";

/** Dependencies of {@link ReceivedShareService}. */
interface ReceivedShareOptions {
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly events: Events;
  readonly tree: TreeReader;
  readonly albums: Pick<AlbumService, "summaries">;
  readonly targets: ShareTargets;
  readonly users: Pick<UserService, "findById">;
  /** Records durably, outside the database, which shares have ended. */
  readonly noteEnded: () => Promise<void>;
}

/** Shares assigned per transaction. */
const ASSIGN_BATCH = 500;

/** Lists, leaves and assigns received shares. All writes are durable when a promise resolves. */
export class ReceivedShareService {
  readonly #options: ReceivedShareOptions;
  readonly #queries: ReturnType<typeof receivedQueries>;

  constructor(options: ReceivedShareOptions) {
    this.#options = options;
    this.#queries = receivedQueries(options.sqlite);
  }

  /** The current shares with a user, of albums too, newest first; at most 1,000. */
  async listAll(user: User): Promise<(ReceivedShare | ReceivedAlbum)[]> {
    const found = [...this.list(user), ...(await this.#listAlbums(user))];
    const order = new Map(this.#rowsOf(user).map(({ publicId }, index) => [publicId, index]));
    return found.toSorted((a, b) => (order.get(a.publicId) ?? 0) - (order.get(b.publicId) ?? 0));
  }

  /** The current shares of files and folders with a user, newest first; at most 1,000. */
  list(user: User): ReceivedShare[] {
    const rows = this.#rowsOf(user);
    // Each owner is read once: clients that sync need this list for each request.
    const owners = new Map([...new Set(rows.map(({ accountId }) => accountId))].map((id) => [id, this.#ownerOf(id)]));
    return rows.flatMap((row) => {
      const owner = row.accountId === user.id ? undefined : owners.get(row.accountId);
      const node = owner && row.nodeId !== null ? this.#options.tree.findById(row.nodeId) : undefined;
      if (node === undefined || owner === undefined) return [];
      return [{ ...toShare(row, owner), node: sharedView(node).show(node), ownersNode: node }];
    });
  }

  async #listAlbums(user: User): Promise<ReceivedAlbum[]> {
    const byOwner = Map.groupBy(
      this.#rowsOf(user).filter(({ albumId }) => albumId !== null),
      ({ accountId }) => accountId,
    );
    const found: ReceivedAlbum[] = [];
    for (const [accountId, rows] of byOwner) {
      const owner = accountId === user.id ? undefined : this.#ownerOf(accountId);
      if (owner === undefined) continue;
      const ids = rows.flatMap(({ albumId }) => albumId ?? []);
      const albums = new Map((await this.#options.albums.summaries(ids, accountId)).map((album) => [album.id, album]));
      for (const row of rows) {
        const album = albums.get(row.albumId ?? 0);
        if (album !== undefined) found.push({ ...toShare(row, owner), album: asReceived(album, owner) });
      }
    }
    return found;
  }

  /** Whether {@link list} returns any share. */
  hasAny(user: User): boolean {
    return this.#rowsOf(user).some((row) => {
      if (row.nodeId === null) return false;
      const { node, owner } = this.#find(row);
      return node !== undefined && owner !== undefined && owner.id !== user.id;
    });
  }

  /**
   * Ends a share that this user received, and notifies its owner (`share.revoked`). A share with a group stays for the
   * others: this user no longer has it. @throws AppError not_found
   */
  async leave(user: User, publicId: string): Promise<void> {
    const { writer, events, noteEnded } = this.#options;
    await writer.run((tx) => {
      const row = this.#queries.find.get(publicId, user.id);
      if (row === null) throw notFound(say`This share was not found.`);
      if (row.groupId !== null) {
        this.#queries.hide.run(row.id, user.id);
        return;
      }
      this.#queries.remove.run(row.id);
      const { node } = this.#find(row);
      if (node === undefined) return;
      events.emit(tx, "share.revoked", { accountId: row.accountId, share: summarize(row, node) });
    });
    await noteEnded();
  }

  /**
   * Assigns to an account the shares that wait for its email, and notifies it (`share.received`). In the caller's
   * transaction.
   */
  claim(tx: Transaction, { accountId, email }: EventOf<"user.email_confirmed">): void {
    const { clock } = this.#options;
    for (const row of this.#queries.waiting.all(emailKey(email), clock.nowMs())) this.#assign(tx, row, accountId);
  }

  /**
   * For a server that had mail.verify on before: assigns to accounts the shares that wait only because their email was
   * not confirmed, and notifies them. Durable when this returns.
   * @returns how many shares
   */
  async claimUnconfirmed(): Promise<number> {
    const { writer, clock } = this.#options;
    const assignBatch = (fromId: number) =>
      writer.run((tx) => {
        const rows = this.#queries.waitingUnconfirmed.all(clock.nowMs(), ASSIGN_BATCH, fromId);
        for (const row of rows) this.#assign(tx, row, row.recipientId);
        return rows;
      });
    let assigned = 0;
    for (let rows = await assignBatch(0); rows.length > 0; rows = await assignBatch(rows.at(-1)?.recipientId ?? 0)) {
      assigned += rows.length;
    }
    return assigned;
  }

  #assign(tx: Transaction, row: ReceivedRow, accountId: number): void {
    this.#queries.assign.run(row.id, accountId);
    const { node, owner } = this.#find(row);
    if (node === undefined || owner === undefined) return;
    this.#options.events.emit(tx, "share.received", {
      accountId,
      share: summarize(row, node),
      ownerId: owner.publicId,
      ownerName: owner.name,
    });
  }

  #rowsOf(user: User): ReceivedRow[] {
    return withoutRepeated(this.#queries.ofRecipient.all(user.id, this.#options.clock.nowMs()));
  }

  /** What is shared and its owner, if both exist. */
  #find(row: ReceivedRow): { node: SharedItem | undefined; owner: User | undefined } {
    return { node: this.#options.targets.find(row), owner: this.#ownerOf(row.accountId) };
  }

  #ownerOf(accountId: number): User | undefined {
    const owner = this.#options.users.findById(accountId);
    return owner?.disabledAtMs === null ? owner : undefined;
  }
}

function toShare(row: ReceivedRow, owner: User) {
  const { groupPublicId: publicId, groupName: name } = row;
  const group = publicId === null || name === null ? null : { publicId, name };
  return { ...row, canWrite: row.canWrite === 1, showsVersions: row.showsVersions === 1, owner, group };
}

/**
 * Leaves out shares with groups that give nothing more than another share of the same item: members of several groups
 * would see the item twice.
 */
function withoutRepeated(rows: readonly ReceivedRow[]): ReceivedRow[] {
  const byItem = Map.groupBy(rows, ({ nodeId, albumId }) => nodeId ?? -(albumId ?? 0));
  return rows.filter((row) => {
    if (row.groupId === null) return true;
    const others = byItem.get(row.nodeId ?? -(row.albumId ?? 0)) ?? [];
    return !others.some((other) => other !== row && isPreferred(other, row));
  });
}

/** Whether a share gives what one with a group gives. Of two equal ones with groups, the older one counts. */
function isPreferred(other: ReceivedRow, row: ReceivedRow): boolean {
  if (other.canWrite < row.canWrite || other.showsVersions < row.showsVersions) return false;
  const isMore = other.canWrite > row.canWrite || other.showsVersions > row.showsVersions;
  return isMore || other.groupId === null || other.id < row.id;
}

function summarize({ publicId, label, expiresAtMs }: ReceivedRow, node: SharedItem): ShareFacts {
  const { kind: type, publicId: nodeId, name } = node;
  return { publicId, kind: "account", label, expiresAtMs, node: { type, publicId: nodeId, name } };
}
