/**
 * The link of a public file (contract §5). Its token is made from a random nonce by the server's link key and kept
 * nowhere: the database has the nonce, to show the link to its owner again, and the token's digest, to find it. So a
 * copy of the database alone opens no link.
 */
import type { Database } from "bun:sqlite";
import { createHmac } from "node:crypto";
import type { Transaction } from "../../db/transaction.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";

const TOKEN_BYTES = 24;
const TOKEN = /^[A-Za-z0-9_-]{32}$/;

/** Makes, ends and finds public links. */
export class PublicLinks {
  readonly #key: Uint8Array;
  readonly #clock: Clock;
  readonly #insert;
  readonly #delete;
  readonly #byNode;
  readonly #byToken;
  readonly #markDownloaded;

  constructor(sqlite: Database, key: Uint8Array, clock: Clock) {
    this.#key = key;
    this.#clock = clock;
    this.#insert = sqlite.query<void, [string, number, Uint8Array, Uint8Array, number]>(
      `INSERT INTO shares (public_id, account_id, node_id, kind, nonce, token_hash, created_at)
       VALUES (?1, (SELECT account_id FROM nodes WHERE id = ?2), ?2, 'public', ?3, ?4, ?5)`,
    );
    this.#delete = sqlite.query<void, [number]>("DELETE FROM shares WHERE node_id = ?1 AND kind = 'public'");
    this.#byNode = sqlite.query<{ nonce: Uint8Array }, [number]>(
      "SELECT nonce FROM shares WHERE node_id = ?1 AND kind = 'public'",
    );
    this.#byToken = sqlite.query<{ nodeId: number; downloadedAt: number | null }, [Uint8Array]>(
      "SELECT node_id AS nodeId, downloaded_at AS downloadedAt FROM shares WHERE token_hash = ?1",
    );
    this.#markDownloaded = sqlite.query<void, [Uint8Array, number]>(
      "UPDATE shares SET downloaded_at = ?2 WHERE token_hash = ?1 AND downloaded_at IS NULL",
    );
  }

  /** Gives a file a link, with a new token; one that it had before is dead. In the caller's deed. @returns the token */
  open(_tx: Transaction, nodeId: number): string {
    this.#delete.run(nodeId);
    const nonce = crypto.getRandomValues(new Uint8Array(32));
    const token = this.#tokenOf(nonce);
    const nowMs = this.#clock.nowMs();
    this.#insert.run(newId("shr", nowMs), nodeId, nonce, hashToken(token), nowMs);
    return token;
  }

  /** Ends the link of a file. In the caller's deed. */
  close(_tx: Transaction, nodeId: number): void {
    this.#delete.run(nodeId);
  }

  /** The token of a file's link; undefined where it has none. */
  findToken(nodeId: number): string | undefined {
    const row = this.#byNode.get(nodeId);
    return row === null ? undefined : this.#tokenOf(row.nonce);
  }

  /** The file that a token opens; undefined for unknown, ended and malformed ones alike. */
  findNodeId(token: string): number | undefined {
    if (!TOKEN.test(token)) return undefined;
    return this.#byToken.get(hashToken(token))?.nodeId;
  }

  /** Whether content was fetched through this link before. */
  isDownloaded(token: string): boolean {
    return (this.#byToken.get(hashToken(token))?.downloadedAt ?? null) !== null;
  }

  /** Notes that content was fetched through this link. In the caller's deed. @returns whether for the first time */
  noteDownloaded(_tx: Transaction, token: string): boolean {
    return this.#markDownloaded.run(hashToken(token), this.#clock.nowMs()).changes > 0;
  }

  #tokenOf(nonce: Uint8Array): string {
    return createHmac("sha256", this.#key).update(nonce).digest().subarray(0, TOKEN_BYTES).toString("base64url");
  }
}

function hashToken(token: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(token).digest();
}
