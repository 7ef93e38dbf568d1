/** Which files carry which tag, and how many carry each. */
import type { Database } from "bun:sqlite";
import { invariant } from "../../lib/invariant.ts";
import { fold } from "../../lib/path.ts";

/** A tag as first spelled, and how many files carry it. */
export interface TagCount {
  readonly tag: string;
  readonly count: number;
}

/** The rows of `tags` and `node_tags`. Changes run inside a transaction. */
export class Tags {
  readonly #count;
  readonly #uncount;
  readonly #drop;
  readonly #link;
  readonly #unlink;
  readonly #find;
  readonly #list;

  constructor(sqlite: Database) {
    this.#count = sqlite.prepare<{ id: number }, [number, string, string]>(
      `INSERT INTO tags (account_id, key, name, count) VALUES (?1, ?2, ?3, 1)
       ON CONFLICT (account_id, key) DO UPDATE SET count = count + 1 RETURNING id`,
    );
    this.#uncount = sqlite.prepare<{ id: number; count: number }, [number, string]>(
      "UPDATE tags SET count = count - 1 WHERE account_id = ?1 AND key = ?2 RETURNING id, count",
    );
    this.#drop = sqlite.prepare<undefined, [number]>("DELETE FROM tags WHERE id = ?1");
    this.#link = sqlite.prepare<undefined, [number, number]>("INSERT INTO node_tags (tag_id, node_id) VALUES (?1, ?2)");
    this.#unlink = sqlite.prepare<undefined, [number, number]>(
      "DELETE FROM node_tags WHERE tag_id = ?1 AND node_id = ?2",
    );
    this.#find = sqlite.prepare<{ id: number; count: number }, [number, string]>(
      "SELECT id, count FROM tags WHERE account_id = ?1 AND key = ?2",
    );
    this.#list = sqlite.prepare<TagCount, [number, number]>(
      "SELECT name AS tag, count FROM tags WHERE account_id = ?1 ORDER BY count DESC, key LIMIT ?2",
    );
  }

  /** The tags of an account, most used first, then by name; at most `limit`. */
  list(accountId: number, limit: number): TagCount[] {
    return this.#list.all(accountId, limit);
  }

  /** Adds tags that the file does not have. */
  add(accountId: number, nodeId: number, tags: readonly string[]): void {
    for (const tag of tags) {
      const row = this.#count.get(accountId, fold(tag), tag);
      invariant(row !== null, "an inserted tag has an id");
      this.#link.run(row.id, nodeId);
    }
  }

  /** Removes tags that the file has. A tag without files is deleted. */
  remove(accountId: number, nodeId: number, tags: readonly string[]): void {
    for (const tag of tags) {
      const row = this.#uncount.get(accountId, fold(tag));
      invariant(row !== null, "a tag that a file carries is known");
      this.#unlink.run(row.id, nodeId);
      if (row.count === 0) this.#drop.run(row.id);
    }
  }

  /** Looks up tags by their folded form: id and number of files; undefined for a tag without files. */
  find(accountId: number, tags: readonly string[]): ({ id: number; count: number } | undefined)[] {
    return tags.map((tag) => this.#find.get(accountId, fold(tag)) ?? undefined);
  }
}
