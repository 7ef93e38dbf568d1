/** What the manifest of an export says about the account: its albums, its pins, and the picture of the person. */
import { ROOT_PATH } from "../../../lib/path.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { readPins } from "../../accounts/users/settings.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { AvatarService } from "../../sharing/avatars/service.ts";
import { ExportedAlbums } from "./albums.ts";
import type { ManifestAccount, ManifestPin } from "./manifest.ts";
import type { ExportRequest } from "./types.ts";

/** Dependencies of {@link ExportedAccount}. */
export interface ExportedAccountOptions {
  readonly tree: Pick<TreeReader, "findNode">;
  readonly albums: Pick<AlbumService, "list" | "files">;
  readonly users: Pick<UserService, "settingsJson">;
  readonly avatars: Pick<AvatarService, "read">;
}

/** An account while its files are exported. */
export class ExportedAccount {
  readonly #albums: ExportedAlbums;
  /** The pinned albums, and the row ids of the pinned folders, in order. */
  readonly #pins: readonly (string | number)[];
  /** Row ids of pinned folders, and their paths in the export once they are written. */
  readonly #paths: Map<number, string | undefined>;
  readonly #person: ManifestAccount["person"];

  private constructor(albums: ExportedAlbums, pins: readonly (string | number)[], person: ManifestAccount["person"]) {
    this.#albums = albums;
    this.#pins = pins;
    this.#paths = new Map(pins.flatMap((pin) => (typeof pin === "number" ? [[pin, undefined] as const] : [])));
    this.#person = person;
  }

  /** Reads the current state. The picture is only in an export of all files. */
  static async read(
    { tree, albums, users, avatars }: ExportedAccountOptions,
    user: User,
    { folder }: Pick<ExportRequest, "folder">,
  ): Promise<ExportedAccount> {
    // A pin of what others share has no file here.
    const pins = readPins(users.settingsJson(user.id)).flatMap((id): (string | number)[] => {
      if (id.startsWith("albm_")) return [id];
      const node = tree.findNode(user.id, id);
      return node === undefined ? [] : [node.id];
    });
    const picture = folder === ROOT_PATH ? avatars.read(user.id, "256")?.bytes : undefined;
    const person = picture && { email: user.email, picture: Buffer.from(picture).toString("base64") };
    return new ExportedAccount(await ExportedAlbums.read(albums, user, folder === ROOT_PATH), pins, person);
  }

  /** Call for each file and folder. @param path in the export, with slashes */
  note(nodeId: number, path: string): void {
    this.#albums.note(nodeId, path);
    if (this.#paths.has(nodeId)) this.#paths.set(nodeId, path);
  }

  /** Names of the albums that contain a file, by its row id. */
  albumsOf(nodeId: number): readonly string[] {
    return this.#albums.namesOf(nodeId);
  }

  /** What the manifest ends with. Call when everything is written. */
  describe(): ManifestAccount {
    const albums = this.#albums.entries();
    const pins = this.#pins.flatMap((pin): ManifestPin[] => {
      if (typeof pin === "number") {
        const folder = this.#paths.get(pin);
        return folder === undefined ? [] : [{ folder }];
      }
      const album = this.#albums.pinOf(pin);
      return album === undefined ? [] : [album];
    });
    return { albums, pins, ...(this.#person && { person: this.#person }) };
  }
}
