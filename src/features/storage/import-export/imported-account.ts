/** Restores what the manifest of an export says about the account: albums, pins, and the picture of the person. */
import { relative } from "node:path";
import { AppError } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { emailKey } from "../../accounts/users/email.ts";
import { changePins, PINS_MAX, readPins } from "../../accounts/users/settings.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { AvatarService } from "../../sharing/avatars/service.ts";
import { type ImportedAlbumIds, ImportedAlbums } from "./albums.ts";
import type { ManifestAccount } from "./manifest.ts";
import type { SourceFile, WalkedEntry } from "./source-walk.ts";

/** Dependencies of {@link ImportedAccount}. */
export interface ImportedAccountOptions {
  readonly tree: Pick<TreeReader, "findFileNamed" | "findFolderByPath">;
  readonly albums: Pick<AlbumService, "addByName" | "update">;
  readonly users: Pick<UserService, "settingsJson" | "changeSettings">;
  readonly avatars: Pick<AvatarService, "versionOf" | "set">;
}

/** Where an import comes from. */
interface ImportSource {
  readonly user: User;
  /** The imported folder. */
  readonly source: string;
  /** What its manifest says; undefined without one. */
  readonly account: ManifestAccount | undefined;
}

/** An account while files are imported into it. */
export class ImportedAccount {
  readonly #options: ImportedAccountOptions & ImportSource;
  readonly #albums: ImportedAlbums;
  /** Paths of pinned folders in the export, and in the account. */
  readonly #folders = new Map<string, string | undefined>();

  constructor(options: ImportedAccountOptions & ImportSource) {
    this.#options = options;
    const { albums: entries = [], pins = [] } = options.account ?? {};
    this.#albums = new ImportedAlbums({ ...options, entries });
    for (const pin of pins) if ("folder" in pin) this.#folders.set(pin.folder, undefined);
  }

  /** Call for each entry of the folder. */
  note(entry: WalkedEntry): void {
    this.#albums.note(entry);
    if (entry.kind !== "folder" || this.#folders.size === 0) return;
    const key = relative(this.#options.source, entry.path);
    if (this.#folders.has(key)) this.#folders.set(key, entry.treePath);
  }

  /** Call if a file was stored at another place. @param path on disk */
  noteStored(path: string, stored: Pick<SourceFile, "folder" | "name">): void {
    this.#albums.noteStored(path, stored);
  }

  /** Call when all files are stored. Pins and the picture are set only if the account has none. */
  async write(): Promise<void> {
    await this.#writePins(await this.#albums.write());
    await this.#writePicture();
  }

  async #writePins(albums: ImportedAlbumIds): Promise<void> {
    const { account, users, user, tree } = this.#options;
    const ids = (account?.pins ?? []).flatMap((pin) => {
      if ("album" in pin) return albums.get(pin.album)?.[(pin.number ?? 1) - 1] ?? [];
      const path = this.#folders.get(pin.folder);
      return (path === undefined ? undefined : tree.findFolderByPath(user.id, path)?.publicId) ?? [];
    });
    const pins = [...new Set(ids)].slice(0, PINS_MAX);
    if (pins.length === 0 || hasPins(users.settingsJson(user.id))) return;
    await users.changeSettings(user.id, (json) => (hasPins(json) ? json : changePins(json, () => pins)));
  }

  /** Encodes the picture again, because the manifest may be of anybody. */
  async #writePicture(): Promise<void> {
    const { account, avatars, user } = this.#options;
    const person = account?.person;
    // The files of one person in the account of another don't change who that is.
    if (person === undefined || emailKey(person.email) !== emailKey(user.email)) return;
    if (avatars.versionOf(user.id) !== null) return;
    try {
      await avatars.set(user, async () => Buffer.from(person.picture, "base64"));
    } catch (error) {
      // Like other invalid fields of a manifest.
      if (!(error instanceof AppError) || error.reason !== "unsupported_media_type") throw error;
    }
  }
}

function hasPins(settingsJson: string): boolean {
  return readPins(settingsJson).length > 0;
}
