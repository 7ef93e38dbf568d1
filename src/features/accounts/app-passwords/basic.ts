/** Reads HTTP Basic (RFC 7617). */

/** What a program sends. */
export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

/** The longest header that is read: an email address of 254 characters and a password, in base 64. */
const HEADER_MAX = 2_000;
const BASIC = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i;

/** The user name and the password in a header; undefined for every other header. */
export function readBasic(authorization: string): BasicCredentials | undefined {
  if (authorization.length > HEADER_MAX) return undefined;
  const encoded = BASIC.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
