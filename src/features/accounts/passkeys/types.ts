import type { Transaction } from "../../../db/transaction.ts";
import type { User } from "../users/types.ts";

/** A passkey as its owner sees it. */
export interface Passkey {
  readonly publicId: string;
  readonly name: string;
  /** The host name that it was created for. */
  readonly rpId: string;
  /** A provider syncs it to the owner's other devices. */
  readonly isBackedUp: boolean;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** The site on which a browser says it is, and to which a passkey is bound (WebAuthn §5.1.3, RP ID). */
export interface Site {
  /** `https://files.example.org`, with the port if it is not the default of the scheme. */
  readonly origin: string;
  /** Its host name. */
  readonly rpId: string;
}

/** A user who has just shown their passkey. */
export interface PasskeyProof {
  readonly user: User;
  /**
   * Counts the use, in the transaction that begins the session.
   * @throws AppError bad_credentials if the passkey was removed, or used by another request, since its check
   */
  readonly confirm: (tx: Transaction) => void;
}
