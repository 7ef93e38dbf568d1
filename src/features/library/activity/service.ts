/**
 * The activity of one file or folder, combined from existing records: its versions, its former locations, its shares,
 * and entries of the audit log. Each part goes back as far as its records are retained.
 */
import type { Database } from "bun:sqlite";
import type { Permissions } from "../permissions/permissions.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { IN_TRASH } from "../../../tree/tables/history.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { User } from "../../accounts/users/types.ts";
import { ActivityRows, type FormerLocationRow } from "./queries.ts";
import type { Activity, ActivityFolder } from "./types.ts";

/** Dependencies of {@link ActivityService}. */
export interface ActivityServiceOptions {
  readonly sqlite: Database;
  readonly tree: TreeReader;
  readonly permissions: Permissions;
  readonly users: {
    findById(id: number): User | undefined;
    findByPublicId(publicId: string): User | undefined;
  };
}

/** Lists the activity of files and folders. */
export class ActivityService {
  readonly #options: ActivityServiceOptions;
  readonly #rows: ActivityRows;

  constructor(options: ActivityServiceOptions) {
    this.#options = options;
    this.#rows = new ActivityRows(options.sqlite);
  }

  /**
   * A page of the activity of a node, newest first, and the total number. A recipient of a share sees who created the
   * node and its current version, and the earlier ones if the share shows versions. Locations, devices and other
   * recipients are visible only to the owner.
   * @throws AppError not_found
   */
  list(user: User, publicId: string, page: number, limit: number): { entries: readonly Activity[]; total: number } {
    const { permissions } = this.#options;
    const { node, isOwn, showsVersions } = permissions.node(user, publicId, "read");
    const all = [
      ...(isOwn ? [...this.#audited(node), ...this.#shares(node), ...this.#moves(node)] : []),
      ...this.#contents(node, showsVersions),
      this.#creation(node, isOwn),
    ];
    // Entries with the same time stay in the order above: nothing happened to a node before its creation.
    const sorted = all.toSorted((a, b) => b.atMs - a.atMs);
    const entries = sorted.slice((page - 1) * limit, page * limit).map(({ describe }) => describe());
    return { entries, total: all.length };
  }

  #creation(node: TreeNode, isOwn: boolean): ActivitySource {
    const describe = (): Activity => {
      const row = this.#rows.creation(node.id);
      const by = this.#person(row?.userId ?? null);
      return { kind: "created", atMs: node.createdAtMs, by, device: isOwn ? toDevice(row) : undefined };
    };
    return { atMs: node.createdAtMs, describe };
  }

  #contents(node: TreeNode, showsVersions: boolean): ActivitySource[] {
    if (node.kind !== "file") return [];
    return this.#options.tree
      .listVersions(node)
      .filter(({ version }) => version > 1 && (showsVersions || version === node.version))
      .map(({ version, createdAtMs: atMs, createdBy }) => ({
        atMs,
        describe: () => ({ kind: "content", atMs, by: this.#person(createdBy), version }),
      }));
  }

  #moves(node: TreeNode): ActivitySource[] {
    let next: Location = { parentId: node.parentId ?? IN_TRASH, name: node.name };
    return this.#rows.formerLocations(node.id).map((row) => {
      const to = next;
      next = row;
      return { atMs: row.atMs, describe: () => this.#change(row, to) };
    });
  }

  #change(row: FormerLocationRow, next: Location): Activity {
    const base = { atMs: row.atMs, device: toDevice(row) };
    if (next.parentId === IN_TRASH) return { kind: "trashed", ...base, from: this.#folder(row) };
    const to = this.#folder(next);
    if (row.parentId === IN_TRASH) return { kind: "restored", ...base, to };
    return { kind: row.parentId === next.parentId ? "renamed" : "moved", ...base, from: this.#folder(row), to };
  }

  #shares(node: TreeNode): ActivitySource[] {
    return this.#rows.shares(node.id).map(({ atMs, kind }) => ({
      atMs,
      describe: () => ({ kind: "shared", atMs, by: this.#person(node.accountId), share: kind }),
    }));
  }

  #audited(node: TreeNode): ActivitySource[] {
    return this.#rows.auditEntries(node.publicId).map(({ atMs, action, userId }) => ({
      atMs,
      describe: () => ({
        kind: action === "version.delete" ? "version_deleted" : "downloaded",
        atMs,
        by: toPerson(userId === null ? undefined : this.#options.users.findByPublicId(userId)),
      }),
    }));
  }

  #folder({ parentId, name }: Location): ActivityFolder {
    return { name, folder: this.#options.tree.pathOf(parentId) ?? null };
  }

  #person(id: number | null): Activity["by"] {
    return toPerson(id === null ? undefined : this.#options.users.findById(id));
  }
}

/** An entry. The user and the location are looked up only for entries on the requested page. */
interface ActivitySource {
  readonly atMs: number;
  readonly describe: () => Activity;
}

type Location = Pick<FormerLocationRow, "parentId" | "name">;

/** An erased account has no name. */
function toPerson(user: User | undefined): Activity["by"] {
  return user === undefined || user.email === "" ? undefined : { publicId: user.publicId, name: user.name };
}

function toDevice(
  row: { readonly deviceId: string | null; readonly deviceName: string | null } | undefined,
): Activity["device"] {
  const { deviceId = null, deviceName = null } = row ?? {};
  return deviceId === null || deviceName === null ? undefined : { publicId: deviceId, name: deviceName };
}
