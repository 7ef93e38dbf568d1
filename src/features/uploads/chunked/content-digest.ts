import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import { invalidField } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";

/**
 * The sha256 in a Content-Digest header (RFC 9530 §2): `sha-256=:<base64>:`, alone or with others. Undefined if it
 * contains none; other algorithms are ignored, as the RFC allows.
 * @throws AppError invalid_field for an invalid one
 */
export function readContentDigest(header: string | null): Digest | undefined {
  const members = header?.split(",").map((member) => member.trim()) ?? [];
  const member = members.find((text) => /^sha-256\s*=/i.test(text));
  if (member === undefined) return undefined;
  const base64 = /^sha-256=:([A-Za-z0-9+/]{43}=):$/i.exec(member)?.[1];
  const bytes = base64 === undefined ? undefined : Buffer.from(base64, "base64");
  if (bytes?.length !== 32) {
    throw invalidField(
      "Content-Digest",
      say`Content-Digest must be sha-256=: followed by the digest in base64 and a colon.`,
    );
  }
  return digestFromBytes(bytes);
}
