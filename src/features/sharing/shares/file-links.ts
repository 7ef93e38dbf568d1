/** The link of a public file: a share of the kind `public`, created and ended together with `isPublic`. */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import type { PublicLinks as FilePublicLinks } from "../../library/files/public-links.ts";
import { ShareTokens } from "./tokens.ts";

interface LinkRow {
  readonly publicId: string;
  readonly label: string | null;
  readonly nonce: Uint8Array;
  readonly accountId: number;
  readonly nodePublicId: string;
  readonly nodeName: string;
}

/** Creates, ends and finds public links. */
export class PublicLinks implements FilePublicLinks {
  readonly #tokens: ShareTokens;
  readonly #clock: Clock;
  readonly #events: Events | undefined;
  readonly #insert;
  readonly #delete;
  readonly #byNode;
  readonly #noteEnded: (() => Promise<void>) | undefined;

  /**
   * @param events receives the creation and end of links
   * @param noteEnded records durably, outside the database, which links have ended
   */
  constructor(sqlite: Database, key: Uint8Array, clock: Clock, events?: Events, noteEnded?: () => Promise<void>) {
    this.#noteEnded = noteEnded;
    this.#tokens = new ShareTokens(key);
    this.#clock = clock;
    this.#events = events;
    this.#insert = sqlite.prepare<void, [string, number, Uint8Array, Uint8Array, number]>(
      `INSERT INTO shares (public_id, account_id, node_id, kind, nonce, token_hash, created_at)
       VALUES (?1, (SELECT account_id FROM nodes WHERE id = ?2), ?2, 'public', ?3, ?4, ?5)`,
    );
    this.#delete = sqlite.prepare<void, [number]>("DELETE FROM shares WHERE node_id = ?1 AND kind = 'public'");
    this.#byNode = sqlite.prepare<LinkRow, [number]>(
      `SELECT s.public_id AS publicId, s.label, s.nonce, s.account_id AS accountId, n.public_id AS nodePublicId,
         n.name AS nodeName FROM shares s JOIN nodes n ON n.id = s.node_id WHERE s.node_id = ?1 AND s.kind = 'public'`,
    );
  }

  /** Gives a file a link with a new token; an earlier one ends. In the caller's transaction. @returns the token */
  open(tx: Transaction, nodeId: number): string {
    this.#delete.run(nodeId);
    const { token, nonce, hash } = this.#tokens.make();
    const nowMs = this.#clock.nowMs();
    this.#insert.run(newId("shr", nowMs), nodeId, nonce, hash, nowMs);
    this.#emit(tx, "share.created", this.#byNode.get(nodeId));
    return token;
  }

  /** Ends the link of a file. In the caller's transaction. */
  close(tx: Transaction, nodeId: number): void {
    const row = this.#byNode.get(nodeId);
    this.#delete.run(nodeId);
    this.#emit(tx, "share.revoked", row);
  }

  /**
   * Call it after the transaction that ended a link or share, before the response. After it returns, no rebuilt or
   * restored database opens the link again.
   */
  async settleEnded(): Promise<void> {
    await this.#noteEnded?.();
  }

  /** The token of a file's link; undefined if it has none. */
  findToken(nodeId: number): string | undefined {
    const row = this.#byNode.get(nodeId);
    return row === null ? undefined : this.#tokens.tokenOf(row.nonce);
  }

  #emit(tx: Transaction, name: "share.created" | "share.revoked", row: LinkRow | null): void {
    if (row === null || this.#events === undefined) return;
    const node = { type: "file", publicId: row.nodePublicId, name: row.nodeName } as const;
    const share = { publicId: row.publicId, kind: "public", label: row.label, expiresAtMs: null, node } as const;
    this.#events.emit(tx, name, { accountId: row.accountId, share });
  }
}
