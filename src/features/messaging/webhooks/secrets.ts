/**
 * Signing secrets and signatures by the Standard Webhooks rules (standardwebhooks.com). A secret is made from a random
 * nonce by the server's link key and kept nowhere: the database has the nonce alone, so that a copy of it signs nothing.
 */
import { createHmac, randomBytes } from "node:crypto";
import { Webhook as Signer } from "standardwebhooks";

/** What a secret is made from. */
export type Nonce = Uint8Array;

/** Bytes of a secret; the rules ask for 24 to 64. */
const SECRET_BYTES = 32;
/** Tells these secrets from everything else that the same key makes. */
const PURPOSE = "webhook:";

/** A new nonce. */
export function newNonce(): Nonce {
  return randomBytes(SECRET_BYTES);
}

/** The secret of a nonce as its owner gets it: `whsec_` and base64. */
export function secretOf(key: Uint8Array, nonce: Nonce): string {
  const secret = createHmac("sha256", key).update(PURPOSE).update(nonce).digest();
  return `whsec_${secret.toString("base64")}`;
}

/**
 * The headers of one attempt to deliver.
 * @param secrets those that sign: the present one first, and for a day the one before it
 */
export function signedHeaders(
  secrets: readonly string[],
  message: { readonly id: string; readonly atMs: number; readonly body: string },
): Record<string, string> {
  const at = new Date(message.atMs);
  const signatures = secrets.map((secret) => new Signer(secret).sign(message.id, at, message.body));
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(Math.floor(message.atMs / 1000)),
    "webhook-signature": signatures.join(" "),
  };
}
