import type { Transaction } from "../../../db/transaction.ts";
import type { EventOf } from "../../../events/catalogue.ts";
import type { User } from "../../accounts/users/types.ts";
import type { AuditLog } from "./service.ts";

/** Audits internal events that no response shows. Listeners, inside the transaction. */
export class AuditTriggers {
  readonly #audit: AuditLog;
  readonly #findUser: (id: number) => User | undefined;

  constructor(audit: AuditLog, findUser: (id: number) => User | undefined) {
    this.#audit = audit;
    this.#findUser = findUser;
  }

  /** Somebody has a copy of a device's refresh token; the request names no account. */
  tokenReused(tx: Transaction, { accountId, device }: EventOf<"security.token_reused">): void {
    const user = this.#findUser(accountId);
    this.#audit.write(tx, {
      action: "device.token_reused",
      outcome: "refused",
      reason: "revoked_token",
      via: "none",
      subject: user && { id: user.publicId, email: user.email || undefined },
      target: { type: "device", id: device.publicId },
    });
  }
}
