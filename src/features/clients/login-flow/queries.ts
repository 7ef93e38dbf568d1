import type { Database } from "bun:sqlite";

/** A row of `login_flows`. */
export interface LoginFlowRow {
  readonly id: number;
  readonly pollHash: Uint8Array | null;
  readonly program: string;
  readonly clientAddress: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Null until somebody agreed. */
  readonly userId: number | null;
  /** JSON of the app password to create. */
  readonly options: string | null;
}

/** A new row. */
interface NewLoginFlowRow extends Pick<LoginFlowRow, "program" | "clientAddress" | "createdAtMs" | "expiresAtMs"> {
  readonly tokenHash: Uint8Array;
  readonly pollHash: Uint8Array | null;
  readonly addressKey: string;
}

const SELECT = `SELECT id, poll_hash AS pollHash, program, client_address AS clientAddress,
  created_at AS createdAtMs, expires_at AS expiresAtMs, user_id AS userId, options FROM login_flows`;

/** Statements for the writing connection; changes only inside a transaction. */
export function loginFlowQueries(sqlite: Database) {
  return {
    byToken: sqlite.prepare<LoginFlowRow, [Uint8Array]>(`${SELECT} WHERE token_hash = ?1`),
    byPoll: sqlite.prepare<LoginFlowRow, [Uint8Array]>(`${SELECT} WHERE poll_hash = ?1`),
    count: sqlite.prepare<{ count: number }, []>("SELECT count(*) AS count FROM login_flows"),
    countOfAddress: sqlite.prepare<{ count: number }, [string]>(
      "SELECT count(*) AS count FROM login_flows WHERE address_key = ?1",
    ),
    insert: sqlite.prepare<undefined, [NewLoginFlowRow & Record<string, string | number | Uint8Array | null>]>(
      `INSERT INTO login_flows (token_hash, poll_hash, program, client_address, address_key, created_at, expires_at)
       VALUES ($tokenHash, $pollHash, $program, $clientAddress, $addressKey, $createdAtMs, $expiresAtMs)`,
    ),
    agree: sqlite.prepare<undefined, [number, number, string]>(
      "UPDATE login_flows SET user_id = ?2, options = ?3 WHERE id = ?1 AND user_id IS NULL",
    ),
    remove: sqlite.prepare<undefined, [number]>("DELETE FROM login_flows WHERE id = ?1"),
    removeOfUser: sqlite.prepare<undefined, [number]>("DELETE FROM login_flows WHERE user_id = ?1"),
    removeExpired: sqlite.prepare<undefined, [number]>("DELETE FROM login_flows WHERE expires_at <= ?1"),
  };
}
