/** Labels of many files at once, and the list of those that an account uses. */
import type { Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import { fold } from "../../../lib/path.ts";
import { actingDevice, type Permissions } from "../permissions/permissions.ts";
import { checkTags } from "../../../tree/model/labels.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TagCount } from "../../../tree/tables/tags.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";

/** What {@link TagService} works with. */
export interface TagServiceOptions {
  readonly writer: Writer;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly permissions: Permissions;
}

/** Labels to give and to take; checked already, none in both. */
export interface TagChanges {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** What became of one file of a bulk change. */
export type TagOutcome =
  | { readonly id: string; readonly file: FileNode }
  | { readonly id: string; readonly error: AppError };

/** Files changed by one transaction: some milliseconds, after which others have their turn. */
const FILES_PER_TRANSACTION = 50;
/** Labels of an account that are listed, the most used ones. */
const LISTED_MAX = 10_000;

/** See the head of this file. */
export class TagService {
  readonly #options: TagServiceOptions;

  constructor(options: TagServiceOptions) {
    this.#options = options;
  }

  /** The labels of an account, most used first, then by name; at most 10,000. */
  list(accountId: number): TagCount[] {
    return this.#options.tree.tagsOf(accountId, LISTED_MAX);
  }

  /**
   * Gives labels to files and takes others off, each file by itself, in the order given. A file that has all that is given
   * and nothing that is taken stays as it is and is no change. Durable on return.
   * @returns an outcome per id: not_found, share_permission, or invalid_field where a file would have more than 50 labels
   */
  async change(user: User, fileIds: readonly string[], changes: TagChanges): Promise<TagOutcome[]> {
    const outcomes: TagOutcome[] = [];
    for (let start = 0; start < fileIds.length; start += FILES_PER_TRANSACTION) {
      const ids = fileIds.slice(start, start + FILES_PER_TRANSACTION);
      const { writer, treeWriter } = this.#options;
      // What refuses a file is found before anything of it is written, so one transaction can hold refused ones too.
      const some = await writer.run((tx) =>
        ids.map((id): TagOutcome => {
          try {
            const permitted = this.#options.permissions.file(user, id, "write");
            const { node, view } = permitted;
            const tags = changedTags(node.tags, changes);
            if (tags === undefined) return { id, file: node };
            const change = () => treeWriter.updateFile(tx, node, { tags });
            return { id, file: view.show(treeWriter.by(actingDevice(user, permitted), change)) };
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
 * Labels as a request gives them, in the form in which they are kept.
 * @throws AppError invalid_field for labels that may not be kept, for none at all, and for one to be given and taken
 */
export function readTagChanges(given: {
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}): TagChanges {
  const add = checkTags(given.add ?? [], "add");
  const remove = checkTags(given.remove ?? [], "remove");
  if (add.length === 0 && remove.length === 0) {
    throw invalidField("add", "The request contains no tags. Send at least one tag in add or remove.");
  }
  const removed = new Set(remove.map(fold));
  const both = add.find((tag) => removed.has(fold(tag)));
  if (both !== undefined) {
    throw invalidField("remove", `The tag "${both}" is in both add and remove. Send it in only one of them.`);
  }
  return { add, remove };
}

/** The labels after a change, in their order, new ones last; undefined where that changes nothing. */
function changedTags(present: readonly string[], { add, remove }: TagChanges): string[] | undefined {
  const removed = new Set(remove.map(fold));
  const kept = present.filter((tag) => !removed.has(fold(tag)));
  const known = new Set(kept.map(fold));
  const added = add.filter((tag) => !known.has(fold(tag)));
  if (added.length === 0 && kept.length === present.length) return undefined;
  return checkTags([...kept, ...added], "add");
}
