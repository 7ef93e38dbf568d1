/** Marks in lists: which of an account's files and folders it shares, and how. Recipients get none. */
import type { Database } from "bun:sqlite";
import type { Clock } from "../../../lib/clock.ts";
import type { User } from "../../accounts/users/types.ts";

/** How a file or folder is shared: the number of its live shares of each kind. */
export interface ShareMark {
  readonly links: number;
  /** Shares with accounts and groups. */
  readonly people: number;
  readonly dropBoxes: number;
  /** When the first of them ends; null if none does. */
  readonly expiresAtMs: number | null;
}

interface MarkRow extends ShareMark {
  readonly nodeId: number;
}

/** Reads the marks of the nodes of a list in one query. */
export class ShareMarks {
  readonly #clock: Clock;
  readonly #hasAny;
  readonly #among;

  constructor({ sqlite, clock }: { readonly sqlite: Database; readonly clock: Clock }) {
    this.#clock = clock;
    this.#hasAny = sqlite.prepare<{ found: number }, [number]>(
      "SELECT EXISTS (SELECT 1 FROM shares INDEXED BY shares_account WHERE account_id = ?1) AS found",
    );
    this.#among = sqlite.prepare<MarkRow, [string, number, number]>(
      `SELECT s.node_id AS nodeId, sum(kind IN ('public', 'link')) AS links, sum(kind = 'upload') AS dropBoxes,
         sum(kind NOT IN ('public', 'link', 'upload')) AS people, min(expires_at) AS expiresAtMs
       FROM json_each(?1) j CROSS JOIN shares s INDEXED BY shares_node ON s.node_id = j.value
       WHERE s.account_id = ?2 AND (s.expires_at IS NULL OR s.expires_at > ?3) GROUP BY s.node_id`,
    );
  }

  /** The marks by row id of those of these nodes that the user shares. Shares of others are left out. */
  among(user: Pick<User, "id">, nodes: readonly { readonly id: number }[]): ReadonlyMap<number, ShareMark> {
    // Many accounts share nothing. This spares a listing the look-up of each node.
    if (nodes.length === 0 || this.#hasAny.get(user.id)?.found !== 1) return NONE;
    const ids = JSON.stringify(nodes.map(({ id }) => id));
    const found = this.#among.all(ids, user.id, this.#clock.nowMs());
    return new Map(found.map(({ nodeId, ...mark }) => [nodeId, mark]));
  }
}

const NONE: ReadonlyMap<number, ShareMark> = new Map();
