/** Changes the tags of many files at once, and lists the tags of an account. */
import type { Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import { fold } from "../../../lib/path.ts";
import { actingDevice, type Permissions } from "../permissions/permissions.ts";
import { checkTags } from "../../../tree/model/labels.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TagCount } from "../../../tree/tables/tags.ts";
import type { Outcome } from "../files/outcomes.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";

/** Dependencies of {@link TagService}. */
export interface TagServiceOptions {
  readonly writer: Writer;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly permissions: Permissions;
}

/** Tags to add and remove: valid, and none in both. */
export interface TagChanges {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** Files changed per transaction of some milliseconds, so that others can write in between. */
const FILES_PER_TRANSACTION = 50;
/** Tags listed per account, the most used ones. */
const LISTED_MAX = 10_000;

/** Changes and lists tags. */
export class TagService {
  readonly #options: TagServiceOptions;

  constructor(options: TagServiceOptions) {
    this.#options = options;
  }

  /** The tags of an account, most used first, then by name; at most 10,000. */
  list(accountId: number): TagCount[] {
    return this.#options.tree.tagsOf(accountId, LISTED_MAX);
  }

  /**
   * Adds tags to files and removes others, each file independently, in the given order. A file that already has the
   * resulting tags is not changed. Durable on return.
   * @returns an outcome per id: not_found, share_permission, or invalid_field if a file would have more than 50 tags
   */
  async change(user: User, fileIds: readonly string[], changes: TagChanges): Promise<Outcome<FileNode>[]> {
    const outcomes: Outcome<FileNode>[] = [];
    for (let start = 0; start < fileIds.length; start += FILES_PER_TRANSACTION) {
      const ids = fileIds.slice(start, start + FILES_PER_TRANSACTION);
      const { writer, treeWriter } = this.#options;
      // A rejected file is rejected before anything is written, so the transaction can continue with the others.
      const some = await writer.run((tx) =>
        ids.map((id): Outcome<FileNode> => {
          try {
            const permitted = this.#options.permissions.file(user, id, "write");
            const { node, view } = permitted;
            const tags = changedTags(node.tags, changes);
            if (tags === undefined) return { id, done: node };
            const change = () => treeWriter.updateFile(tx, node, { tags });
            return { id, done: view.show(treeWriter.by(actingDevice(user, permitted), change)) };
          } catch (error) {
            if (error instanceof AppError) return { id, error };
            throw error;
          }
        }),
      );
      outcomes.push(...some);
    }
    return outcomes;
  }
}

/**
 * Reads the tags of a request in normalized form.
 * @throws AppError invalid_field for invalid tags, for none at all, and for a tag in both lists
 */
export function readTagChanges(given: {
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}): TagChanges {
  const add = checkTags(given.add ?? [], "add");
  const remove = checkTags(given.remove ?? [], "remove");
  if (add.length === 0 && remove.length === 0) {
    throw invalidField("add", say`The request contains no tags. Send at least one tag in add or remove.`);
  }
  const removed = new Set(remove.map(fold));
  const both = add.find((tag) => removed.has(fold(tag)));
  if (both !== undefined) {
    throw invalidField("remove", say`The tag "${both}" is in both add and remove. Send it in only one of them.`);
  }
  return { add, remove };
}

/** The tags after a change, in their order, new ones last; undefined if nothing changes. */
function changedTags(current: readonly string[], { add, remove }: TagChanges): string[] | undefined {
  const removed = new Set(remove.map(fold));
  const remaining = current.filter((tag) => !removed.has(fold(tag)));
  const known = new Set(remaining.map(fold));
  const added = add.filter((tag) => !known.has(fold(tag)));
  if (added.length === 0 && remaining.length === current.length) return undefined;
  return checkTags([...remaining, ...added], "add");
}
