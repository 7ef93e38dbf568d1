/**
 * Favorites: marks that each account sets on files and folders for itself, also on those that others share with it. They
 * change neither the node nor its journal. A mark outlives the trash and the end of a share, but is hidden until the
 * account can see the node again.
 */
import type { Database } from "bun:sqlite";
import { naturalOrder, numbers, type Reader, rows } from "../../../db/reader.ts";
import type { Bindable } from "../../../db/reader.worker.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { type NamedRow, sortNaturally } from "../../../lib/natural-key.ts";
import type { SortField, SortOrder, TreeNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import type { Outcome } from "../files/outcomes.ts";
import { type ItemRights, itemRightsOf, OWN_ITEM } from "../permissions/item-rights.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { sharedView } from "../permissions/view.ts";
import { CAN_WRITE, FavoriteRows, selectShares, selectVisible, type ShareRow, SHOWS_VERSIONS } from "./queries.ts";

/** Dependencies of {@link FavoriteService}. */
export interface FavoriteServiceOptions {
  readonly sqlite: Database;
  /** For accounts with many favorites. */
  readonly reader: Reader;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly tree: TreeReader;
  readonly permissions: Permissions;
}

/** A page to read. */
export interface FavoritePage {
  readonly sort: SortField;
  readonly order: SortOrder;
  readonly offset: number;
  readonly limit: number;
}

/** A favorite as the user sees it. A file of a shared album has no share. */
export interface Favorite extends ItemRights {
  readonly node: TreeNode;
}

/** Favorites of an account. */
export const FAVORITES_MAX = 100_000;
/** Marks set per transaction of some milliseconds, so that others can write in between. */
const PER_TRANSACTION = 100;
/** Favorites that are sorted on the main thread, in a millisecond or two. */
const IN_PLACE_MAX = 500;
/** Steps up from folders, taken on the main thread to find the shares of favorites, in a millisecond or two. */
const STEPS_MAX = 1_000;

/** Sets, finds and lists favorites. */
export class FavoriteService {
  readonly #options: FavoriteServiceOptions;
  readonly #rows: FavoriteRows;

  constructor(options: FavoriteServiceOptions) {
    this.#options = options;
    this.#rows = new FavoriteRows(options.sqlite);
  }

  /** Clears all caches: another process wrote. */
  dropCaches(): void {
    this.#rows.dropCaches();
  }

  /** The row ids of those of these nodes that the user marked, read in one query. */
  among(user: Pick<User, "id">, nodes: readonly { readonly id: number }[]): ReadonlySet<number> {
    return this.#rows.among(
      user.id,
      nodes.map(({ id }) => id),
    );
  }

  /**
   * Marks nodes, or removes their marks, each independently. Durable on return.
   * @returns an outcome per id: not_found, invalid_field for a root, quota_exceeded above {@link FAVORITES_MAX}
   */
  async change(user: User, ids: readonly string[], isFavorite: boolean): Promise<Outcome<TreeNode>[]> {
    const outcomes: Outcome<TreeNode>[] = [];
    for (let start = 0; start < ids.length; start += PER_TRANSACTION) {
      const some = ids.slice(start, start + PER_TRANSACTION);
      const done = await this.#options.writer.run((tx) =>
        some.map((id): Outcome<TreeNode> => {
          try {
            const { node } = this.#options.permissions.node(user, id, "read");
            this.set(tx, user, node, isFavorite);
            return { id, done: node };
          } catch (error) {
            if (error instanceof AppError) return { id, error };
            throw error;
          }
        }),
      );
      outcomes.push(...done);
    }
    return outcomes;
  }

  /**
   * Marks a node that the user can see, or removes the mark. In the caller's transaction.
   * @throws AppError invalid_field for a root; quota_exceeded above {@link FAVORITES_MAX}
   */
  set(_tx: Transaction, user: User, node: TreeNode, isFavorite: boolean): void {
    if (node.parentId === null) throw invalidField("ids", say`The root folder can't be a favorite.`);
    if (!isFavorite) return this.#rows.remove(user.id, node.id);
    if (!this.#rows.add(user.id, node.id) || this.#rows.count(user.id) <= FAVORITES_MAX) return;
    this.#rows.remove(user.id, node.id);
    throw new AppError(
      "quota_exceeded",
      say`You can have at most ${FAVORITES_MAX} favorites. Remove some of them before you add others.`,
      { limit: FAVORITES_MAX, of: "favorites" },
    );
  }

  /**
   * A page of the favorites that the user can see, as they see them, and the number of all.
   * @throws AppError overloaded
   */
  async list(
    user: User,
    { sort, order, offset, limit }: FavoritePage,
  ): Promise<{ favorites: Favorite[]; total: number }> {
    const ids = await this.visibleIds(user, sort, order);
    const found = this.#options.tree.findByIds([...ids.subarray(offset, offset + limit)]);
    return { favorites: await this.show(user, found), total: ids.length };
  }

  /**
   * Nodes as the user sees them, without those of others that are not shared with the user any more.
   * @throws AppError overloaded
   */
  async show(user: User, nodes: readonly TreeNode[]): Promise<Favorite[]> {
    const received = nodes.filter(({ accountId }) => accountId !== user.id);
    const seen = received.length === 0 ? NONE : await this.#asReceived(user, received);
    return nodes.flatMap((node) => (node.accountId === user.id ? [{ node, ...OWN_ITEM }] : (seen.get(node.id) ?? [])));
  }

  /** The row ids of all favorites that the user can see. @throws AppError overloaded */
  async visibleIds(user: User, sort: SortField, order: SortOrder): Promise<Float64Array> {
    const { sqlite, reader, clock } = this.#options;
    const count = this.#rows.count(user.id);
    if (count === 0) return new Float64Array(0);
    const hasGone = this.#rows.hasGone(user.id);
    const { sql, parameters } = selectVisible(user.id, clock.nowMs(), { sort, order, hasGone });
    const isInPlace =
      count <= IN_PLACE_MAX && !hasGone && this.#rows.isShallow(this.#rows.received(user.id, IN_PLACE_MAX), STEPS_MAX);
    if (isInPlace) {
      const found = sqlite.query<NamedRow, Bindable[]>(sql).all(...parameters);
      return Float64Array.from(sort === "natural" ? sortNaturally(found, order) : found.map(({ id }) => id));
    }
    const [ids] = await reader.read([
      sort === "natural"
        ? naturalOrder(sql, parameters, order)
        : numbers(`SELECT group_concat(id) FROM (${sql})`, parameters),
    ]);
    return ids;
  }

  /** Nodes of other accounts as the user sees them, by row id; without those that are not shared any more. */
  async #asReceived(user: User, nodes: readonly TreeNode[]): Promise<ReadonlyMap<number, Favorite>> {
    const { sqlite, reader, clock, tree } = this.#options;
    const ids = nodes.map(({ id }) => id);
    const { sql, parameters } = selectShares(user.id, clock.nowMs(), ids);
    const [found] = this.#rows.isShallow(ids, STEPS_MAX)
      ? [sqlite.query<ShareRow, Bindable[]>(sql).all(...parameters)]
      : await reader.read([rows<ShareRow>(sql, parameters)]);
    const shares = new Map(found.map((row) => [row.nodeId, row]));
    const views = new Map(
      tree.findByIds([...new Set(found.map(({ sharedId }) => sharedId))]).map((base) => [base.id, sharedView(base)]),
    );
    const seen = new Map<number, Favorite>();
    for (const node of nodes) {
      const row = shares.get(node.id);
      const view = row && views.get(row.sharedId);
      const favorite = view ? { node: view.show(node), ...rightsOf(row) } : this.#ofAlbum(user, node);
      if (favorite !== undefined) seen.set(node.id, favorite);
    }
    return seen;
  }

  /** A file of a shared album, as the user sees it. */
  #ofAlbum(user: User, { publicId }: TreeNode): Favorite | undefined {
    try {
      const permitted = this.#options.permissions.node(user, publicId, "read");
      return { node: permitted.node, ...itemRightsOf(permitted) };
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }
}

/** As `Permissions` decides it. */
function rightsOf({ share, own, above }: ShareRow): ItemRights {
  const all = own | above;
  return itemRightsOf({
    isOwn: false,
    canWrite: (all & CAN_WRITE) !== 0,
    canManage: (above & CAN_WRITE) !== 0,
    showsVersions: (all & SHOWS_VERSIONS) !== 0,
    share,
  });
}

const NONE: ReadonlyMap<number, Favorite> = new Map();
