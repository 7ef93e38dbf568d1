/**
 * What happened to one file or folder, put together from what is noted anyway: its contents, the places that it left, its
 * shares, and what only the audit log tells. So it reaches as far back as each of them is kept.
 */
import type { Database } from "bun:sqlite";
import type { Permissions } from "../permissions/permissions.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { IN_TRASH } from "../../../tree/tables/history.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import { ActivityRows, type LeftRow } from "./queries.ts";
import type { Activity, ActivityFolder } from "./types.ts";

/** What {@link ActivityService} works with. */
export interface ActivityServiceOptions {
  readonly sqlite: Database;
  readonly tree: TreeReader;
  readonly permissions: Permissions;
  readonly users: {
    findById(id: number): User | undefined;
    findByPublicId(publicId: string): User | undefined;
  };
}

/** See the head of this file. */
export class ActivityService {
  readonly #options: ActivityServiceOptions;
  readonly #rows: ActivityRows;

  constructor(options: ActivityServiceOptions) {
    this.#options = options;
    this.#rows = new ActivityRows(options.sqlite);
  }

  /**
   * A page of what happened to a node, the newest first, and how much there is. Somebody with whom it is shared sees who
   * made it and its content, and the earlier ones where the share shows versions: where it was, with which device, and who else sees it is its owner's matter.
   * @throws AppError not_found
   */
  list(user: User, publicId: string, page: number, limit: number): { entries: readonly Activity[]; total: number } {
    const { permissions } = this.#options;
    const { node, isOwn, showsVersions } = permissions.node(user, publicId, "read");
    const all = [
      ...(isOwn ? [...this.#audited(node), ...this.#shares(node), ...this.#places(node)] : []),
      ...this.#contents(node, showsVersions),
      this.#making(node, isOwn),
    ];
    // What happened at the same moment stays in the order of above: before the making of a thing nothing happened to it.
    const sorted = all.toSorted((a, b) => b.atMs - a.atMs);
    const entries = sorted.slice((page - 1) * limit, page * limit).map(({ tell }) => tell());
    return { entries, total: all.length };
  }

  #making(node: TreeNode, isOwn: boolean): Happening {
    const tell = (): Activity => {
      const row = this.#rows.making(node.id);
      const by = this.#person(row?.userId ?? null);
      return { kind: "created", atMs: node.createdAtMs, by, device: isOwn ? deviceOf(row) : undefined };
    };
    return { atMs: node.createdAtMs, tell };
  }

  #contents(node: TreeNode, showsVersions: boolean): Happening[] {
    if (node.kind !== "file") return [];
    return this.#options.tree
      .listVersions(node)
      .filter(({ version }) => version > 1 && (showsVersions || version === node.version))
      .map(({ version, createdAtMs: atMs, createdBy }) => ({
        atMs,
        tell: () => ({ kind: "content", atMs, by: this.#person(createdBy), version }),
      }));
  }

  #places(node: TreeNode): Happening[] {
    let next: Place = { parentId: node.parentId ?? IN_TRASH, name: node.name };
    return this.#rows.left(node.id).map((row) => {
      const to = next;
      next = row;
      return { atMs: row.atMs, tell: () => this.#change(row, to) };
    });
  }

  #change(row: LeftRow, next: Place): Activity {
    const told = { atMs: row.atMs, device: deviceOf(row) };
    if (next.parentId === IN_TRASH) return { kind: "trashed", ...told, from: this.#place(row) };
    const to = this.#place(next);
    if (row.parentId === IN_TRASH) return { kind: "restored", ...told, to };
    return { kind: row.parentId === next.parentId ? "renamed" : "moved", ...told, from: this.#place(row), to };
  }

  #shares(node: TreeNode): Happening[] {
    return this.#rows.shared(node.id).map(({ atMs, kind }) => ({
      atMs,
      tell: () => ({ kind: "shared", atMs, by: this.#person(node.accountId), share: kind }),
    }));
  }

  #audited(node: TreeNode): Happening[] {
    return this.#rows.audited(node.publicId).map(({ atMs, action, userId }) => ({
      atMs,
      tell: () => ({
        kind: action === "version.delete" ? "version_deleted" : "downloaded",
        atMs,
        by: named(userId === null ? undefined : this.#options.users.findByPublicId(userId)),
      }),
    }));
  }

  #place({ parentId, name }: Place): ActivityFolder {
    return { name, folder: this.#options.tree.pathOf(parentId) ?? null };
  }

  #person(id: number | null): Activity["by"] {
    return named(id === null ? undefined : this.#options.users.findById(id));
  }
}

/** Something that happened; who did it and where is looked up for what a page shows alone. */
interface Happening {
  readonly atMs: number;
  readonly tell: () => Activity;
}

type Place = Pick<LeftRow, "parentId" | "name">;

/** An erased account has no name left. */
function named(user: User | undefined): Activity["by"] {
  return user === undefined || user.email === "" ? undefined : { publicId: user.publicId, name: user.name };
}

function deviceOf(
  row: { readonly deviceId: string | null; readonly deviceName: string | null } | undefined,
): Activity["device"] {
  const { deviceId = null, deviceName = null } = row ?? {};
  return deviceId === null || deviceName === null ? undefined : { publicId: deviceId, name: deviceName };
}
