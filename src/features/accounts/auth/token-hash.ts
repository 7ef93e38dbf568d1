/**
 * The stored form of a bearer token: its sha256. A random token of this length needs no slow hash, since nobody can
 * guess it, and a lookup by digest reveals nothing through its timing.
 */
export function hashToken(token: string): Buffer {
  return Buffer.from(new Bun.CryptoHasher("sha256").update(token).digest());
}
