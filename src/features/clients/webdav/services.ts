import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import type { ContentSender } from "../../library/files/content-sender.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import type { FileService } from "../../library/files/service.ts";
import type { Permissions } from "../../library/permissions/permissions.ts";
import type { FolderService } from "../../library/folders/service.ts";
import type { UserTreeWriter } from "../../library/permissions/user-tree-writer.ts";
import type { TrashService } from "../../library/trash/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { LockService } from "../locks/service.ts";
import type { ChangeGuard } from "./change-guard.ts";
import type { ClientTree, Item } from "./client-tree.ts";
import type { ContentWriter } from "./content-writer.ts";
import type { FavoriteItems } from "./favorite-items.ts";
import type { ItemEtags } from "./item-etags.ts";
import type { Listings } from "./listings.ts";
import type { TreeChanges } from "./tree-changes.ts";

/** What the methods of WebDAV use. */
export interface WebDavServices {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly userTreeWriter: UserTreeWriter;
  readonly writer: Writer;
  readonly files: FileService;
  readonly folders: FolderService;
  readonly trash: TrashService;
  readonly sender: ContentSender;
  readonly rateGate: RateGate;
  readonly clientTree: ClientTree;
  readonly contentWriter: ContentWriter;
  readonly treeChanges: TreeChanges;
  readonly changeGuard: ChangeGuard;
  readonly locks: LockService;
  readonly permissions: Permissions;
  readonly clock: Clock;
  readonly etags: ItemEtags;
  readonly favorites: FavoriteService;
  readonly favoriteItems: FavoriteItems;
  readonly listings: Listings;
  /** The strong ETag of an item, with its quotes. */
  readonly etagOf: (item: Item) => string;
  /** `oc:id` of a node: its number, the id of the data directory, and its epoch if it was created after a restore. */
  readonly clientIdOf: (nodeId: number) => string;
  /** Disables the idle timeout of a request. */
  readonly allowLong: (request: Request) => void;
}
