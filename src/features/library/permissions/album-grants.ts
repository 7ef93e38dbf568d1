import type { Database } from "bun:sqlite";
import { isForUser, sharesForUser } from "./recipients.ts";

/** An album of any account. */
interface AlbumRef {
  readonly id: number;
  readonly accountId: number;
}

/** Finds albums, and shares of albums between accounts. */
export class AlbumGrants {
  readonly #find;
  readonly #isShared;
  readonly #isItemOfShared;

  constructor(sqlite: Database) {
    this.#find = sqlite.prepare<AlbumRef, [string]>(
      "SELECT id, account_id AS accountId FROM albums INDEXED BY albums_public WHERE public_id = ?1",
    );
    this.#isShared = sqlite.prepare<{ one: 1 }, [number, number, number]>(
      `SELECT 1 AS one FROM shares s INDEXED BY shares_album WHERE album_id = ?1 AND kind = 'account' AND ${isForUser("s", "?2")}
         AND (expires_at IS NULL OR expires_at > ?3) LIMIT 1`,
    );
    this.#isItemOfShared = sqlite.prepare<{ one: 1 }, [number, number, number]>(
      `SELECT 1 AS one FROM ${sharesForUser("?2")} r CROSS JOIN shares s ON s.id = r.id
       CROSS JOIN album_items i ON i.album_id = s.album_id AND i.node_id = ?1 AND i.is_hidden = 0
       WHERE s.kind = 'account' AND s.album_id IS NOT NULL
         AND (s.expires_at IS NULL OR s.expires_at > ?3) LIMIT 1`,
    );
  }

  find(publicId: string): AlbumRef | undefined {
    return this.#find.get(publicId) ?? undefined;
  }

  /** Whether an account is the recipient of a live share of an album. */
  isShared(albumId: number, recipientId: number, nowMs: number): boolean {
    return this.#isShared.get(albumId, recipientId, nowMs) !== null;
  }

  /** Whether a file is in an album that is shared with an account. The caller checks that the file is in a tree. */
  isItemOfShared(nodeId: number, recipientId: number, nowMs: number): boolean {
    return this.#isItemOfShared.get(nodeId, recipientId, nowMs) !== null;
  }
}
