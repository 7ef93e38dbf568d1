/** Writes the responses of PROPFIND, a slice of a folder at a time: never a whole large folder in memory. */
import { notThere } from "../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { CoveringLock } from "../../../tree/model/types.ts";
import { type ListedNode, type ListingPosition, toListedNode } from "../../../tree/queries/children.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import type { NamedItem } from "./favorite-items.ts";
import type { AppPasswordPrincipal } from "../../accounts/auth/principal.ts";
import type { User } from "../../accounts/users/types.ts";
import { type AccountStorage, freeBytesOf } from "../account-storage.ts";
import type { Address } from "./address.ts";
import {
  type ClientTree,
  type FolderItem,
  isFolderItem,
  isShareTop,
  isWholeTree,
  type Item,
  type MountedShare,
} from "./client-tree.ts";
import { type ItemEtags, permissionSuffix } from "./item-etags.ts";
import { MULTISTATUS_END, MULTISTATUS_START } from "./multistatus.ts";
import {
  type Entry,
  isFolder,
  type Quota,
  type SizedState,
  type SliceFacts,
  type EntryContext,
} from "./properties/live-properties.ts";
import type { PropertyPlan } from "./properties/property-plan.ts";

/** Dependencies of {@link Listings}. */
export interface ListingsOptions {
  readonly tree: TreeReader;
  readonly clock: Clock;
  readonly clientTree: ClientTree;
  readonly etags: ItemEtags;
  readonly favorites: Pick<FavoriteService, "among">;
  readonly storageOf: (user: User) => AccountStorage;
  readonly clientIdOf: (nodeId: number) => string;
  /** Whether thumbnails are made of this media type. */
  readonly hasPreview: (mediaType: string) => boolean;
  /** Changes after a restore, and in a copy of the directory of a stopped server; empty before the first of these. */
  readonly dataFingerprint: string;
}

/** A PROPFIND. */
export interface ListingRequest {
  readonly principal: AppPasswordPrincipal;
  readonly address: Address;
  /** The path of the item for responses, without a slash at the end; see `hrefOf`. */
  readonly href: string;
  /** Whether to list the members of a folder too. */
  readonly isDeep: boolean;
  readonly plan: PropertyPlan;
}

/** Entries in a slice: reading and writing them takes one to two milliseconds. */
const SLICE_MAX = 200;
const SLICE_MIN = 8;
/** A slice with stored properties begins small, because each node may have 64 KiB of them. */
const SLICE_WITH_PROPERTIES = 32;
/** Characters from which on slices get smaller, and below which they grow. */
const SLICE_LENGTH = 256 * 1024;

/** The node of the folder "Shared with me": no real node has its number. */
const SHARES_NODE_ID = 0;

/** "Shared with me", and the top of the share. */
const NAMES_ABOVE_SHARE = 2;

/** The members of a folder, in slices of at most `limit`. */
type Slices = (limit: number) => Entry[];

/** Writes what PROPFIND returns. */
export class Listings {
  readonly #options: ListingsOptions;

  constructor(options: ListingsOptions) {
    this.#options = options;
  }

  /**
   * The text of a multistatus, in slices. A folder's own ETag is read before its members, so that a client that stores
   * it misses no change. Members that are added or removed during the response may be included or not.
   * @throws AppError not_found
   */
  async *write(request: ListingRequest): AsyncGenerator<string, void> {
    const { principal, address, plan } = request;
    const { clientTree, etags } = this.#options;
    await etags.refresh(principal.user);
    const resource = clientTree.find(principal, address);
    if (resource.kind === "free" || resource.kind === "missing_parent") throw notThere();
    const isFile = resource.kind === "item" && !isFolderItem(resource);
    const selfPath = isFile || request.href.endsWith("/") ? request.href : `${request.href}/`;
    // Read once: an account may have received a thousand.
    const shares = resource.kind === "shares" || isWholeTree(resource) ? clientTree.mountedShares(principal) : [];
    const self =
      resource.kind === "shares"
        ? this.#sharesEntry(principal, resource.name, selfPath, shares)
        : this.#itemEntry(resource, levelsAbove(resource, address), selfPath, { user: principal.user, shares });
    let text = MULTISTATUS_START + (await this.#render([self], request));
    const slices = this.#slicesOf(request, resource.kind === "shares" ? undefined : resource, selfPath, shares);
    let limit = firstSliceOf(plan);
    for (;;) {
      const entries = slices(limit);
      const slice = entries.length === 0 ? "" : await this.#render(entries, request);
      text += slice;
      if (entries.length < limit) break;
      limit = slice.length > SLICE_LENGTH ? Math.max(SLICE_MIN, limit >> 1) : Math.min(SLICE_MAX, limit * 2);
      yield text;
      text = "";
    }
    yield text + MULTISTATUS_END;
  }

  /**
   * The text of a multistatus of items that were found in any folders, in slices. None of them is the root.
   * @param hrefOf the path for responses of an item with these names from the root
   */
  async *writeFound(
    request: Pick<ListingRequest, "principal" | "plan">,
    found: AsyncIterable<readonly NamedItem[]>,
    hrefOf: (names: readonly string[], isFolder: boolean) => string,
  ): AsyncGenerator<string, void> {
    let text = MULTISTATUS_START;
    for await (const items of found) {
      const entries = items.map(({ item, names }) => ({
        node: toListedNode(item.node),
        name: nameOf(item),
        href: hrefOf(names, isFolderItem(item)),
        context: this.#contextOf(item, levelsAbove(item, { names })),
      }));
      text += await this.#render(entries, request);
      yield text;
      text = "";
    }
    yield text + MULTISTATUS_END;
  }

  #slicesOf(
    { principal, address, isDeep }: ListingRequest,
    item: Item | undefined,
    path: string,
    shares: readonly MountedShare[],
  ): Slices {
    if (!isDeep || (item !== undefined && !isFolderItem(item))) return () => [];
    const { clientTree } = this.#options;
    const { user } = principal;
    if (item === undefined) {
      const rest = shares.map((mounted) => clientTree.topOf(principal, mounted));
      const entryOf = (top: Item) =>
        this.#itemEntry(top, 0, childPath(path, nameOf(top), isFolderItem(top)), { user, shares });
      return (limit) => rest.splice(0, limit).map(entryOf);
    }
    const members = this.#membersOf(item, levelsAbove(item, address) + 1, path);
    const sharesName = item.isRoot ? clientTree.sharesNameOf(principal) : undefined;
    if (sharesName === undefined) return members;
    let isFirst = true;
    return (limit) => {
      if (!isFirst) return members(limit);
      isFirst = false;
      return [
        this.#sharesEntry(principal, sharesName, childPath(path, sharesName, true), shares),
        ...members(limit - 1),
      ];
    };
  }

  #membersOf(folder: FolderItem, levels: number, path: string): Slices {
    const { tree } = this.#options;
    const context = this.#contextOf(folder, levels);
    let position: ListingPosition;
    return (limit) => {
      const nodes = tree.childrenAfter(folder.node.id, position, limit);
      position = nodes.at(-1) ?? position;
      return nodes.map((node) => {
        const { name } = node;
        return { node, name, href: childPath(path, name, isFolder(node)), context };
      });
    };
  }

  /** @param viewer the signed-in user, with all received shares: the root of the tree shows both */
  #itemEntry(
    item: Item,
    levels: number,
    href: string,
    viewer: { readonly user: User; readonly shares: readonly MountedShare[] },
  ): Entry {
    const context = this.#contextOf(item, levels);
    const node = toListedNode(item.node);
    if (!isWholeTree(item)) return { node, name: nameOf(item), href, context };
    const etagSuffix = this.#options.etags.rootSuffix(viewer.shares, item.canWrite);
    // A root has no name of its own.
    return { node, name: viewer.user.name, href, context: { ...context, etagSuffix } };
  }

  /** @param levels 0 for the root and for the top of a share */
  #contextOf(item: Item, levels: number): EntryContext {
    const { owner, share, canWrite } = item;
    const { clientIdOf, hasPreview, dataFingerprint } = this.#options;
    const isTop = levels === 0;
    let quota: Quota | undefined;
    return {
      filePermissions: permissionsOf(share !== undefined, canWrite, isTop, "W"),
      folderPermissions: permissionsOf(share !== undefined, canWrite, isTop, "CK"),
      // As in the answer about the signed-in account. Recipients of a share do not learn its owner's email.
      ownerId: share === undefined ? owner.email : owner.publicId,
      ownerName: owner.name,
      mountType: share === undefined ? "" : "shared",
      etagSuffix: permissionSuffix(share, canWrite),
      levels,
      quota: () => (quota ??= this.#quotaOf(owner, share !== undefined)),
      clientIdOf,
      hasPreview,
      dataFingerprint,
    };
  }

  /** The folder "Shared with me", which holds no files of its own. */
  #sharesEntry(
    { user, appPassword }: AppPasswordPrincipal,
    name: string,
    href: string,
    shares: readonly MountedShare[],
  ): Entry {
    const { etags, clientIdOf, hasPreview, dataFingerprint } = this.#options;
    const shareTimes = shares.map(({ share }) => share.createdAtMs);
    const createdAtMs = shareTimes.length === 0 ? user.createdAtMs : Math.min(...shareTimes);
    const changedAtMs = Math.max(createdAtMs, ...shareTimes);
    return {
      node: {
        kind: 0,
        id: SHARES_NODE_ID,
        accountId: user.id,
        parentId: null,
        name,
        createdAtMs,
        sizeBytes: 0,
        mediaType: null,
        digest: null,
        contentAtMs: null,
        fileAtMs: null,
      },
      name,
      href,
      context: {
        filePermissions: "G",
        folderPermissions: "G",
        ownerId: user.email,
        ownerName: user.name,
        mountType: "",
        etagSuffix: "",
        levels: 0,
        quota: () => this.#quotaOf(user, true),
        clientIdOf,
        hasPreview,
        dataFingerprint,
        ownState: { etag: etags.ofShares(shares, appPassword.canWrite), sizeBytes: 0, changedAtMs },
      },
    };
  }

  /** @param isShared the recipient of a share sees how much fits in it, not how much its owner stores */
  #quotaOf(owner: User, isShared: boolean): Quota {
    const storage = this.#options.storageOf(owner);
    return { usedBytes: isShared ? null : storage.usedBytes, availableBytes: freeBytesOf(storage) };
  }

  async #render(
    entries: readonly Entry[],
    { plan, principal }: Pick<ListingRequest, "plan" | "principal">,
  ): Promise<string> {
    const facts = await this.#factsOf(entries, plan, principal.user);
    let text = "";
    for (const entry of entries) text += plan.render(entry, facts);
    return text;
  }

  async #factsOf(entries: readonly Entry[], { needs }: PropertyPlan, user: User): Promise<SliceFacts> {
    const { tree, clock, favorites: marks } = this.#options;
    const nodes = entries.map(({ node }) => node);
    const dead = needs.dead ? tree.propertiesOf(nodes.map(({ id }) => id)) : NOTHING;
    const locks = needs.locks ? this.#locksOn(nodes) : NOTHING;
    const folders = needs.states ? nodes.filter(isFolder) : [];
    const states = folders.length === 0 ? NOTHING : await this.#sizedStates(folders, needs.sizes);
    const favorites = needs.favorites ? marks.among(user, nodes) : NO_FAVORITES;
    return { states, dead, locks, favorites, nowMs: clock.nowMs() };
  }

  /** Received shares belong to several accounts. */
  #locksOn(nodes: readonly ListedNode[]): Map<number, CoveringLock[]> {
    const byAccount = Map.groupBy(nodes, ({ accountId }) => accountId);
    return new Map([...byAccount.values()].flatMap((own) => [...this.#options.tree.locks.on(own)]));
  }

  /** @param needsSizes whether to add up the sizes that are unknown, as after an upgrade */
  async #sizedStates(folders: readonly ListedNode[], needsSizes: boolean): Promise<Map<number, SizedState>> {
    const { tree } = this.#options;
    const sized = new Map<number, SizedState>();
    for (const [id, state] of tree.folderStates(folders.map(({ id }) => id))) {
      const sizeBytes = state.sizeBytes ?? (needsSizes ? await tree.folderSize(id) : 0);
      sized.set(id, { ...state, sizeBytes });
    }
    return sized;
  }
}

/** Entries in the first slice: fewer if each entry of the response is long. */
function firstSliceOf({ needs, constantLength }: PropertyPlan): number {
  const most = needs.dead ? SLICE_WITH_PROPERTIES : SLICE_MAX;
  return Math.max(SLICE_MIN, Math.min(most, Math.floor(SLICE_LENGTH / constantLength)));
}

const NOTHING: ReadonlyMap<number, never> = new Map<number, never>();
const NO_FAVORITES: ReadonlySet<number> = new Set();

/**
 * `oc:permissions`: S shared, G read, D delete, N rename, V move, W change a file, C and K add files and folders. R is
 * missing: clients can't share.
 */
function permissionsOf(isShared: boolean, canWrite: boolean, isTop: boolean, change: "W" | "CK"): string {
  const prefix = isShared ? "SG" : "G";
  if (!canWrite) return prefix;
  return `${prefix}${isTop ? "" : "DNV"}${change}`;
}

/** How many levels above an item the client can see: those of a share begin at its top. */
function levelsAbove({ share }: Item, { names }: Pick<Address, "names">): number {
  return share === undefined ? names.length : names.length - NAMES_ABOVE_SHARE;
}

/** The name as the client sees it. */
function nameOf(item: Item): string {
  return isShareTop(item) ? (item.share?.name ?? item.node.name) : item.node.name;
}

/** The path of a member of a folder. */
function childPath(folderPath: string, name: string, isFolderName: boolean): string {
  const path = folderPath + encodeURIComponent(name);
  return isFolderName ? `${path}/` : path;
}
