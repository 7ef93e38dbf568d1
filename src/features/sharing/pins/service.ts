/**
 * Pins: folders and albums that an account keeps in the sidebar, its own and those that others share with it. They are
 * stored as ids among the settings of the account, and so are in every copy of them. The name and the target of a pin
 * are looked up each time, with the permissions of that moment: a pin of a share that has ended shows nothing. It is
 * hidden until the account can open the folder again, as a favorite is.
 */
import { AppError, invalidField, notFound } from "../../../errors.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { say } from "../../../translations/say.ts";
import { changePins, PINS_MAX, readPins } from "../../accounts/users/settings.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import type { AlbumPermit, Permissions } from "../../library/permissions/permissions.ts";
import type { Pin } from "./types.ts";

/** Dependencies of {@link PinService}. */
interface PinServiceOptions {
  readonly users: Pick<UserService, "settingsJson" | "changeSettings">;
  readonly permissions: Pick<Permissions, "node" | "album">;
  readonly tree: Pick<TreeReader, "findByIds">;
  readonly albums: Pick<AlbumService, "summaries">;
  /** Finds the shares that nodes of others belong to. */
  readonly favorites: Pick<FavoriteService, "show">;
}

/** What a pin leads to, if the user can open it. */
type Target =
  | { readonly node: TreeNode; readonly owner: User; readonly isOwn: boolean }
  | { readonly album: AlbumPermit };

/** Lists, adds, moves and removes pins. */
export class PinService {
  readonly #options: PinServiceOptions;

  constructor(options: PinServiceOptions) {
    this.#options = options;
  }

  /** The pins that the user can open, in their order. @throws AppError overloaded */
  async list(user: User): Promise<Pin[]> {
    const pins = await Promise.all(
      readPins(this.#options.users.settingsJson(user.id)).map(async (id) => {
        const target = this.#find(user, id);
        return target && (await this.#show(user, id, target));
      }),
    );
    return pins.flatMap((pin) => pin ?? []);
  }

  /**
   * Pins a folder or album, or moves its pin. Durable when this returns.
   * @param before the pin before which it is shown; undefined for the end
   * @throws AppError not_found; invalid_field for a file, the own root folder, or an unknown `before`; quota_exceeded
   *   above {@link PINS_MAX}
   */
  async add(user: User, id: string, before: string | undefined): Promise<void> {
    await this.#options.users.changeSettings(user.id, (json) => {
      const target = this.#find(user, id);
      if (target === undefined) throw notFound(say`This folder or album was not found.`);
      requirePinnable(target);
      return changePins(json, (pins) => {
        const others = pins.filter((pin) => pin !== id);
        // Hidden ones don't count, as nobody could remove them.
        const remaining =
          others.length < PINS_MAX ? others : others.filter((pin) => this.#find(user, pin) !== undefined);
        if (remaining.length >= PINS_MAX) throw tooMany();
        const index = before === undefined ? remaining.length : remaining.indexOf(before);
        if (index < 0)
          throw invalidField("before", say`This pin was not found. Leave before out to add the pin at the end.`);
        return remaining.toSpliced(index, 0, id);
      });
    });
  }

  /** Removes a pin, also of what the user can't open any more. Durable when this returns. */
  async remove(user: User, id: string): Promise<void> {
    await this.#options.users.changeSettings(user.id, (json) =>
      changePins(json, (pins) => pins.filter((pin) => pin !== id)),
    );
  }

  #find(user: User, id: string): Target | undefined {
    const { permissions } = this.#options;
    try {
      return id.startsWith("albm_")
        ? { album: permissions.album(user, id, "read") }
        : permissions.node(user, id, "read");
    } catch (error) {
      if (error instanceof AppError && error.reason === "not_found") return undefined;
      throw error;
    }
  }

  async #show(user: User, publicId: string, target: Target): Promise<Pin | undefined> {
    const { albums, favorites, tree } = this.#options;
    if ("album" in target) {
      const { albumId, owner, isOwn } = target.album;
      const [album] = await albums.summaries([albumId], owner.id);
      return album && { album: { publicId, name: album.name }, owner: isOwn ? undefined : owner };
    }
    const { node, owner, isOwn } = target;
    if (node.kind !== "folder") return undefined;
    if (isOwn) return { folder: node, share: undefined, owner: undefined };
    // With the paths of its owner, from which those below the share are made.
    const [shown] = await favorites.show(user, tree.findByIds([node.id]));
    if (shown?.node.kind !== "folder" || shown.share === undefined) return undefined;
    return { folder: shown.node, share: shown.share, owner };
  }
}

function requirePinnable(target: Target): void {
  if ("album" in target) return;
  const { node, isOwn } = target;
  if (node.kind !== "folder")
    throw invalidField("id", say`Only folders and albums can be pinned. Pin the folder of the file.`);
  if (isOwn && node.parentId === null) throw invalidField("id", say`The root folder can't be pinned.`);
}

function tooMany(): AppError {
  return new AppError(
    "quota_exceeded",
    say`You can have at most ${PINS_MAX} pins. Remove some of them before you add others.`,
    {
      limit: PINS_MAX,
      of: "pins",
    },
  );
}
