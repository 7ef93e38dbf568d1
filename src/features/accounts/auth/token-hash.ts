/**
 * What is stored of a token that opens something by itself. Tokens with this much randomness are found by their plain
 * sha256: there is nothing to guess, and no timing to read.
 */
export function hashToken(token: string): Buffer {
  return Buffer.from(new Bun.CryptoHasher("sha256").update(token).digest());
}
