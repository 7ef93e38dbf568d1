import type { Transaction } from "../../../db/transaction.ts";
import type { User } from "../users/types.ts";

/** A passkey as its owner sees it. */
export interface Passkey {
  readonly publicId: string;
  readonly name: string;
  /** The host name that it was made for. */
  readonly rpId: string;
  /** A provider syncs it to the owner's other devices. */
  readonly isBackedUp: boolean;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** The site that a browser says it is on: what a passkey is bound to (WebAuthn §5.1.3, RP ID). */
export interface Site {
  /** `https://files.example.org`, with its port where it isn't the scheme's own. */
  readonly origin: string;
  /** Its host name. */
  readonly rpId: string;
}

/** Somebody who has just shown their passkey. */
export interface PasskeyProof {
  readonly user: User;
  /**
   * Counts the use, in the transaction that begins the session.
   * @throws AppError bad_credentials where the passkey was removed, or used by another request, since its check
   */
  readonly confirm: (tx: Transaction) => void;
}
