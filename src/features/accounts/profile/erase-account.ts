/**
 * Erases an account. In one transaction it loses its sessions, its email and its tree; the many rows of a large
 * tree are taken apart afterwards in small pieces, and when the last is gone so is the account's own row.
 */
import type { Db } from "../../../db/open.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { AuthService } from "../auth/service.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";

/** Services that erasing an account uses. */
export interface EraseOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly users: UserService;
  readonly auth: AuthService;
  readonly treeWriter: TreeWriter;
  /** Called when there is something to be taken apart. */
  readonly onDetached: () => void;
}

/**
 * Ends the account; durable when this returns.
 * @param before runs first in the same transaction; what it throws undoes it
 * @throws AppError last_admin | not_found; what `before` throws
 */
export async function eraseAccount(
  options: EraseOptions,
  user: User,
  before?: (tx: Transaction) => void,
): Promise<void> {
  const { users, auth, treeWriter, db, onDetached } = options;
  const erase = (tx: Transaction): void => {
    auth.endSessions(tx, user.id);
    treeWriter.detachRoot(tx, user.id);
    // Accounts that shared something with this user must not keep the address.
    db.sqlite.query("DELETE FROM shares WHERE recipient_id = ?1").run(user.id);
    // Nothing of the person stays: the address is free for a new account, and no password opens this one.
    db.sqlite
      .query(
        `UPDATE users SET email = '', email_key = 'erased:' || public_id, email_folded = NULL,
           email_skeleton = NULL, email_forms = NULL, email_unconfirmed_since = NULL, name = '', name_key = '', password_hash = '', settings = '{}',
           role = 'viewer' WHERE id = ?1`,
      )
      .run(user.id);
    // Nobody comes in by another service, and no mail is on its way any longer.
    db.sqlite.query("DELETE FROM oidc_identities WHERE user_id = ?1").run(user.id);
    db.sqlite.query("DELETE FROM mails WHERE account_id = ?1").run(user.id);
    db.sqlite.query("DELETE FROM email_confirmations WHERE user_id = ?1").run(user.id);
    tx.afterCommit(onDetached);
  };
  await users.update(user.id, { isDisabled: true }, erase, before);
}

/**
 * Removes the rows of erased accounts whose trees are gone. A transaction for the housekeeping job.
 * @returns how many
 */
export async function sweepErased(options: Pick<EraseOptions, "db" | "writer">): Promise<number> {
  const { db, writer } = options;
  return writer.run(() => {
    const gone = db.sqlite
      .query<{ id: number }, []>(
        // A root is the last of its tree to go.
        `SELECT u.id FROM users u JOIN accounts a ON a.id = u.id
         WHERE u.email_key LIKE 'erased:%' AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = -a.root_id) LIMIT 10`,
      )
      .all();
    for (const { id } of gone) {
      for (const table of [
        "journal",
        "undo",
        "former_places",
        "tombstones",
        "trash",
        "deleted_contents",
        "tags",
        "usage_types",
        "transfers",
        "uploads",
        "upload_sessions",
        "idempotency_keys",
        "notifications",
        "mails",
        "webhooks",
        "store_journal_again",
      ]) {
        db.sqlite.query(`DELETE FROM ${table} WHERE account_id = ?1`).run(id);
      }
      db.sqlite.query("DELETE FROM users WHERE id = ?1").run(id);
    }
    return gone.length;
  });
}
