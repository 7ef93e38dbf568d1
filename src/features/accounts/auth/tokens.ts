/**
 * Access tokens: JWT, HS256, by the plugin @elysiajs/jwt. Only this file signs and reads them. A token only names a
 * session; the row of the session decides what it gives access to.
 */
import { jwt } from "@elysiajs/jwt";
import { Elysia } from "elysia";
import { decodeProtectedHeader } from "jose";

/** The signing key. `kid` is in the header of every token, so that a token of a replaced key is recognized. */
interface SigningKey {
  readonly kid: string;
  readonly secret: Uint8Array;
}

/** The claims of a token. Times are seconds since 1970 (RFC 7519). */
interface TokenClaims {
  /** The user's public id. */
  readonly sub: string;
  /** The session's public id. */
  readonly sid: string;
  readonly exp: number;
}

/**
 * Accepts a signature in only one spelling: two bits of its last letter are unused, and a decoder would accept any
 * value.
 */
const SIGNATURE = /\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** Signs and reads access tokens. */
export class TokenSigner {
  readonly #kid: string;
  readonly #jwt;

  constructor(key: SigningKey) {
    this.#kid = key.kid;
    this.#jwt = new Elysia().use(jwt({ name: "jwt", secret: key.secret, alg: "HS256", kid: key.kid })).decorator.jwt;
  }

  async sign(claims: TokenClaims): Promise<string> {
    return this.#jwt.sign({ sub: claims.sub, sid: claims.sid, exp: claims.exp });
  }

  /**
   * The claims of a token that this server signed, expired or not; undefined for everything else: another algorithm,
   * `none`, another key, a changed letter.
   */
  async read(token: string): Promise<TokenClaims | undefined> {
    if (!SIGNATURE.test(token) || !this.#hasOurHeader(token)) return undefined;
    // The caller checks the expiry by its own clock, so that it can distinguish "expired" from "not ours".
    const claims = await this.#jwt.verify(token, { algorithms: ["HS256"], currentDate: new Date(0) });
    if (claims === false) return undefined;
    const { sub, sid, exp } = claims;
    if (typeof sub !== "string" || typeof sid !== "string" || typeof exp !== "number") return undefined;
    return { sub, sid, exp };
  }

  #hasOurHeader(token: string): boolean {
    try {
      const header = decodeProtectedHeader(token);
      return header.kid === this.#kid && header.alg === "HS256";
    } catch {
      return false; // not a JWT at all: the same response as for a foreign one
    }
  }
}
