import type { Message } from "../../../translations/say.ts";
import type { BlobLease, BlobStore } from "../../../blobs/blob-store.ts";
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { checkTags } from "../../../tree/model/labels.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { numberedName } from "../../../tree/tables/names.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import type { NamedAlbum, NamedAlbums } from "../../library/albums/named-albums.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import { readLocation } from "../../media/metadata/exif.ts";
import type { ImportedItem, ImportedItems } from "./items.ts";
import { DESCRIPTION_BYTES_MAX, type SourceDetails, type SourceFile } from "./source.ts";
import type { TargetPath } from "./target-path.ts";

/** A file of a source whose bytes are durable. */
export interface StoredFile {
  readonly file: SourceFile;
  readonly key: Uint8Array;
  readonly target: TargetPath;
  readonly lease: BlobLease;
  readonly mediaType: string;
  /** As refined by the photo itself; undefined if that is enough. */
  readonly capturedAt: string | undefined;
  /** Whether the bytes were read a second time, because the first ones were deleted in between. */
  readonly isRetry: boolean;
}

/** What became of a file, and which of its details could not be stored. */
export interface WrittenItem {
  readonly outcome: "imported" | "updated" | "merged" | "unchanged" | "deleted" | "changed_here" | "gone";
  readonly incomplete: readonly Message[];
}

/** Dependencies of {@link ItemWriter}. */
export interface ItemWriterOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly favorites: Pick<FavoriteService, "set">;
  readonly namedAlbums: NamedAlbums;
  readonly blobs: Pick<BlobStore, "stat">;
  readonly items: ImportedItems;
}

/** How the files of one import are written. */
interface ItemWriterRequest {
  readonly user: User;
  readonly limits: StorageLimits;
  readonly mergesCopies: boolean;
  readonly restoresDeleted: boolean;
  /** Whether a server uses the same database, and may remove blobs that this process is about to name. */
  readonly hasServer: boolean;
  /** The descriptions of albums by name. */
  readonly descriptions: ReadonlyMap<string, string>;
}

/** Files of one name that are compared: a source can have thousands of them, and each has to be found. */
const NUMBERED_MAX = 100;
const TAG_CHARACTERS_MAX = 64;
const ALBUM_CHARACTERS_MAX = 255;

/** Writes the rows of imported files. Every method is called inside a transaction. */
export class ItemWriter {
  readonly #options: ItemWriterOptions & ItemWriterRequest;

  constructor(options: ItemWriterOptions & ItemWriterRequest) {
    this.#options = options;
  }

  /** @throws AppError quota_exceeded | locked | not_a_folder | invalid_path */
  write(tx: Transaction, stored: StoredFile): WrittenItem {
    const { items, blobs, tree, user, hasServer, restoresDeleted } = this.#options;
    const { lease, key } = stored;
    if (hasServer && blobs.stat(lease.digest)?.sizeBytes !== lease.sizeBytes) return written("gone");
    const known = items.find(user.id, key);
    if (known === undefined) return this.#writeNew(tx, stored);
    const node = tree.findById(known.nodeId);
    if (node?.kind === "file") return this.#writeKnown(tx, stored, known, node);
    if (restoresDeleted) return this.#create(tx, stored);
    this.#remember(stored, known.nodeId);
    return written("deleted");
  }

  /** A file that an earlier import stored. */
  #writeKnown(tx: Transaction, stored: StoredFile, known: ImportedItem, node: FileNode): WrittenItem {
    const { treeWriter, user, limits } = this.#options;
    const { lease, mediaType, file } = stored;
    // A photo whose key names its content can differ only because a person edited it here.
    if (node.digest !== lease.digest && !this.#merges(file)) {
      if (node.digest !== known.digest) return written("changed_here");
      const blob = toBlob(lease);
      const changed = treeWriter.replaceContent(tx, {
        file: node,
        blob,
        mediaType,
        createdBy: user.id,
        quotaBytes: limits.quotaBytes,
        fileModifiedAt: toInstant(file.modifiedMs),
        capturedAt: stored.capturedAt,
      });
      this.#remember(stored, node.id);
      return written("updated", this.#addDetails(tx, changed, file.details));
    }
    this.#remember(stored, node.id);
    return written("unchanged", this.#addDetails(tx, node, file.details));
  }

  /** A file that no earlier import has seen under this key. */
  #writeNew(tx: Transaction, stored: StoredFile): WrittenItem {
    const { items, tree, user, restoresDeleted } = this.#options;
    const { lease, file } = stored;
    const ids = this.#merges(file) ? items.withContent(user.id, lease.digest) : [];
    const [copy] = tree.findByIds(ids);
    if (copy?.kind === "file") {
      this.#remember(stored, copy.id);
      return written("merged", this.#addDetails(tx, copy, file.details));
    }
    const [deletedId] = ids;
    if (deletedId !== undefined && !restoresDeleted) {
      this.#remember(stored, deletedId);
      return written("deleted");
    }
    const same = this.#findSame(stored);
    if (same === undefined) return this.#create(tx, stored);
    this.#remember(stored, same.id);
    return written("unchanged", this.#addDetails(tx, same, file.details));
  }

  #merges(file: SourceFile): boolean {
    return this.#options.mergesCopies && file.isOwnCopy !== true;
  }

  /** A file with this content at the target, or under one of the first numbered names next to it. */
  #findSame({ target: { folder, name }, lease }: StoredFile): FileNode | undefined {
    const { tree, user } = this.#options;
    for (let number = 0; number < NUMBERED_MAX; number++) {
      const found = tree.findFileNamed(user.id, folder, number === 0 ? name : numberedName(name, number));
      if (found === undefined || found.digest === lease.digest) return found;
    }
    return undefined;
  }

  #create(tx: Transaction, stored: StoredFile): WrittenItem {
    const { treeWriter, user, limits } = this.#options;
    const { file, target, lease, mediaType, capturedAt } = stored;
    const tags = validTags(file.details.tags);
    const { file: node } = treeWriter.createFile(tx, {
      accountId: user.id,
      createdBy: user.id,
      folderPath: target.folder,
      name: target.name,
      blob: toBlob(lease),
      mediaType,
      tags,
      metadata: metadataOf(file.details),
      fileModifiedAt: toInstant(file.modifiedMs),
      capturedAt,
      isPublic: false,
      onConflict: "rename",
      quotaBytes: limits.quotaBytes,
    });
    this.#remember(stored, node.id);
    return written("imported", this.#addMarks(tx, node, file.details));
  }

  /** Adds details to a file that exists. What a person has entered there stays. */
  #addDetails(tx: Transaction, node: FileNode, details: SourceDetails): Message[] {
    const { treeWriter } = this.#options;
    const tags = validTags([...node.tags, ...(details.tags ?? [])]);
    const given = metadataOf(details);
    const metadata = Object.fromEntries(Object.entries(given).filter(([key]) => node.metadata[key] === undefined));
    const hasNewTags = tags.length > node.tags.length;
    if (hasNewTags || Object.keys(metadata).length > 0) {
      treeWriter.updateFile(tx, node, { ...(hasNewTags && { tags }), metadata });
    }
    return this.#addMarks(tx, node, details);
  }

  /** Adds a file to its albums, and marks it. @returns why some of that was not possible */
  #addMarks(tx: Transaction, node: FileNode, { albums = [], isFavorite }: SourceDetails): Message[] {
    const { favorites, namedAlbums, user } = this.#options;
    const incomplete: Message[] = [];
    const attempt = (change: () => void) => {
      try {
        change();
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        incomplete.push(error.text);
      }
    };
    if (isFavorite === true) attempt(() => favorites.set(tx, user, node, true));
    for (const name of albums) attempt(() => namedAlbums.add(tx, user.id, this.#album(name), node.id));
    return incomplete;
  }

  #album(name: string): NamedAlbum {
    const description = this.#options.descriptions.get(name) ?? "";
    // oxlint-disable-next-line no-control-regex -- control characters are not allowed in names of albums
    return { name: cut(name.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " "), ALBUM_CHARACTERS_MAX), description };
  }

  #remember({ file, key, lease }: StoredFile, nodeId: number): void {
    const { items, user } = this.#options;
    items.put(user.id, key, { version: file.version, nodeId, digest: lease.digest });
  }
}

function written(outcome: WrittenItem["outcome"], incomplete: readonly Message[] = []): WrittenItem {
  return { outcome, incomplete };
}

function toBlob({ digest, sizeBytes, crc32, isNew }: BlobLease) {
  return { digest, sizeBytes, crc32, isNew };
}

/** Location and description, where uploads of phones store them too. */
function metadataOf({ location, description }: SourceDetails): Record<string, string> {
  const text = description?.toWellFormed().trim() ?? "";
  // To about 10 cm, as in photos.
  const degrees = location && [location.latitude, location.longitude].map((value) => Number(value.toFixed(6)));
  const position = degrees && readLocation(degrees.join(","));
  return {
    ...(text !== "" && { description: cutBytes(text, DESCRIPTION_BYTES_MAX) }),
    ...(position !== undefined && { location: position }),
  };
}

/** The tags that are allowed, adapted if necessary. */
function validTags(tags: readonly string[] = []): string[] {
  const valid: string[] = [];
  for (const tag of tags) {
    try {
      // oxlint-disable-next-line no-control-regex -- control characters are not allowed in tags
      const adapted = tag.toWellFormed().replaceAll(/[,\u0000-\u001f\u007f-\u009f]/g, " ");
      valid.splice(0, valid.length, ...checkTags([...valid, cut(adapted, TAG_CHARACTERS_MAX)]));
    } catch (error) {
      // More tags than a file can have.
      if (!(error instanceof AppError)) throw error;
    }
  }
  return valid;
}

function cut(text: string, characters: number): string {
  return Array.from(text.normalize("NFC").trim()).slice(0, characters).join("").trim();
}

function cutBytes(text: string, bytes: number): string {
  return Buffer.byteLength(text) <= bytes
    ? text
    : Buffer.from(text)
        .subarray(0, bytes)
        .toString()
        .replace(/\uFFFD$/, "");
}

/** A time as the API writes it; undefined for one outside of the range of dates. */
function toInstant(ms: number | undefined): string | undefined {
  return ms === undefined || !(Math.abs(ms) <= 8.64e15) ? undefined : toTimestamp(ms);
}
