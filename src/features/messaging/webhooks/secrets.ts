/**
 * Signing secrets and signatures of Standard Webhooks (standardwebhooks.com). A secret is derived from a random nonce
 * and the server's link key. Only the nonce is stored in the database, so a copy of the database can't sign anything.
 */
import { createHmac, randomBytes } from "node:crypto";
import { Webhook as Signer } from "standardwebhooks";

/** The random part of a secret. */
type Nonce = Uint8Array;

/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32;
/** Separates these secrets from everything else that is derived from the same key. */
const PURPOSE = "webhook:";

/** A new nonce. */
export function newNonce(): Nonce {
  return randomBytes(SECRET_BYTES);
}

/** The secret of a nonce, as the webhook's owner gets it: `whsec_` and base64. */
export function secretOf(key: Uint8Array, nonce: Nonce): string {
  const secret = createHmac("sha256", key).update(PURPOSE).update(nonce).digest();
  return `whsec_${secret.toString("base64")}`;
}

/**
 * The headers of one attempt.
 * @param secrets the current secret and, for a day after a change, the former one
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
