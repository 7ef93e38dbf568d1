/**
 * Deletes an account. One transaction removes its sessions, its email and its tree. The rows of a large tree are
 * deleted afterwards in small batches, and the row of the account last.
 */
import type { Db } from "../../../db/open.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { AuthService } from "../auth/service.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { UserService } from "../users/service.ts";
import type { User } from "../users/types.ts";

/** Dependencies of {@link eraseAccount}. */
interface EraseOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly users: UserService;
  readonly auth: AuthService;
  readonly treeWriter: TreeWriter;
  /** Called when there are rows to delete in the background. */
  readonly onDetached: () => void;
}

/**
 * Deletes the account; durable when this returns.
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
    db.sqlite.query("DELETE FROM favorites WHERE account_id = ?1").run(user.id);
    db.sqlite.query("DELETE FROM opened_files WHERE account_id = ?1").run(user.id);
    db.sqlite.query("DELETE FROM group_members WHERE user_id = ?1").run(user.id);
    db.sqlite.query("DELETE FROM hidden_shares WHERE user_id = ?1").run(user.id);
    // No personal data remains: the address is free for a new account, and no password opens this one.
    db.sqlite
      .query(
        `UPDATE users SET email = '', email_key = 'erased:' || public_id, email_folded = NULL,
           email_skeleton = NULL, email_forms = NULL, email_unconfirmed_since = NULL, name = '', name_key = '', password_hash = '', settings = '{}',
           role = 'viewer' WHERE id = ?1`,
      )
      .run(user.id);
    // Their items are deleted with the files, which can take a while.
    db.sqlite.query("UPDATE albums SET name = '', sort_key = '', description = '' WHERE account_id = ?1").run(user.id);
    // No program and no provider signs in to it, and no mail to it remains queued.
    for (const table of ["app_passwords", "former_emails"]) {
      db.sqlite.query(`DELETE FROM ${table} WHERE user_id = ?1`).run(user.id);
    }
    db.sqlite.query("DELETE FROM oidc_identities WHERE user_id = ?1").run(user.id);
    db.sqlite.query("DELETE FROM mails WHERE account_id = ?1").run(user.id);
    db.sqlite.query("DELETE FROM email_confirmations WHERE user_id = ?1").run(user.id);
    tx.afterCommit(onDetached);
  };
  await users.update(user.id, { isDisabled: true }, erase, before);
}

/**
 * Deletes the rows of deleted accounts whose trees are deleted. A transaction for the housekeeping job.
 * @returns how many
 */
export async function sweepErased(options: Pick<EraseOptions, "db" | "writer">): Promise<number> {
  const { db, writer } = options;
  return writer.run(() => {
    const erased = db.sqlite
      .query<{ id: number }, []>(
        // The root is the last row of a tree to be deleted.
        `SELECT u.id FROM users u JOIN accounts a ON a.id = u.id
         WHERE u.email_key LIKE 'erased:%' AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = -a.root_id) LIMIT 10`,
      )
      .all();
    for (const { id } of erased) {
      for (const table of [
        "journal",
        "undo",
        "former_places",
        "tombstones",
        "trash",
        "deleted_contents",
        "changed_folders",
        "live_rechecks",
        "tags",
        "usage_types",
        "transfers",
        "uploads",
        "upload_sessions",
        "idempotency_keys",
        "notifications",
        "mails",
        "webhooks",
        "albums",
        "store_journal_again",
      ]) {
        db.sqlite.query(`DELETE FROM ${table} WHERE account_id = ?1`).run(id);
      }
      db.sqlite.query("DELETE FROM users WHERE id = ?1").run(id);
    }
    return erased.length;
  });
}
