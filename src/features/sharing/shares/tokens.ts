/**
 * Tokens of shares. A token is made from a random nonce with the server's link key, and not stored. The database stores
 * the nonce, to show the link to its owner again, and the token's digest, to find it. So a copy of the database alone
 * gives access to no link.
 */
import type { Database } from "bun:sqlite";
import { createHmac } from "node:crypto";

const TOKEN_BYTES = 24;
const NONCE_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{32}$/;

/** A new token, and its stored values. */
interface NewToken {
  readonly token: string;
  readonly nonce: Uint8Array;
  readonly hash: Uint8Array;
}

/** Makes tokens of shares and recognizes them. */
export class ShareTokens {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** A token of 192 random bits, URL-safe. */
  make(): NewToken {
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const token = this.tokenOf(nonce);
    return { token, nonce, hash: hashShareToken(token) };
  }

  /** The token that was made from this nonce. */
  tokenOf(nonce: Uint8Array): string {
    return createHmac("sha256", this.#key).update(nonce).digest().subarray(0, TOKEN_BYTES).toString("base64url");
  }
}

/** Whether a text has the form of a token. */
export function isShareToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The digest by which a token is found. */
export function hashShareToken(token: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(token).digest();
}

/**
 * Recomputes the digests of all tokens with this key, if the key was replaced or lost. The links then get other
 * addresses, which their owners see; earlier addresses are invalid. Writes nothing if the key is unchanged.
 * @returns how many shares got another address
 */
export function reissueTokens(sqlite: Database, tokens: ShareTokens): number {
  const isOwn = ({ nonce, hash }: { nonce: Uint8Array; hash: Uint8Array }) =>
    Buffer.from(hashShareToken(tokens.tokenOf(nonce))).equals(hash);
  // All digests use the same key, so checking the first and the last is enough.
  const ends = sqlite
    .query<{ nonce: Uint8Array; hash: Uint8Array }, []>(
      `SELECT nonce, token_hash AS hash FROM shares
       WHERE id IN (SELECT min(id) FROM shares UNION SELECT max(id) FROM shares)`,
    )
    .all();
  if (ends.every(isOwn)) return 0;
  const all = sqlite.query<{ id: number; nonce: Uint8Array }, []>("SELECT id, nonce FROM shares");
  const set = sqlite.query<void, [number, Uint8Array]>("UPDATE shares SET token_hash = ?2 WHERE id = ?1");
  return sqlite
    .transaction(() => {
      const rows = all.all();
      for (const { id, nonce } of rows) set.run(id, hashShareToken(tokens.tokenOf(nonce)));
      return rows.length;
    })
    .immediate();
}
