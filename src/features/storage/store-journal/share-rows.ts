import type { Database } from "bun:sqlite";
import { GroupRecords } from "./group-rows.ts";
import type { ShareRecord } from "./records.ts";

type Value = string | number | null | Uint8Array;

/** The row id of what a share is of. */
export type ShareTarget = { readonly nodeId: number } | { readonly albumId: number };

/** Writes rows of shares from records of the store journal. Every method is called inside a transaction. */
export class ShareRecords {
  readonly #insert;
  readonly #update;
  readonly #groups: GroupRecords;

  constructor(sqlite: Database) {
    this.#groups = new GroupRecords(sqlite);
    this.#insert = sqlite.prepare<undefined, Value[]>(
      `INSERT OR IGNORE INTO shares (public_id, label, expires_at, password_hash, max_downloads, downloads, pinned_version,
         hides_location, max_upload_bytes, uploaded_bytes, can_write, shows_versions, max_uploads_per_address, grant_epoch, account_id,
         node_id, kind, nonce, token_hash, created_at, recipient_email_key, recipient_id, album_id, group_id)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)`,
    );
    this.#update = sqlite.prepare<undefined, Value[]>(
      `UPDATE shares SET label = ?2, expires_at = ?3, password_hash = ?4, max_downloads = ?5, downloads = max(downloads, ?6),
         pinned_version = ?7, hides_location = ?8, max_upload_bytes = ?9, uploaded_bytes = max(uploaded_bytes, ?10),
         can_write = ?11, shows_versions = ?12, max_uploads_per_address = ?13, grant_epoch = ?14 WHERE public_id = ?1`,
    );
  }

  /** Inserts a share; an existing one stays as it is. @param recipientId row id of the account that it is for */
  insert(accountId: number, target: ShareTarget, share: ShareRecord, recipientId: number | null): void {
    this.#insert.run(
      ...settingsOf(share),
      accountId,
      "nodeId" in target ? target.nodeId : null,
      share.kind,
      Buffer.from(share.nonce, "hex"),
      Buffer.from(share.tokenHash, "hex"),
      share.created,
      share.recipientEmail ?? null,
      recipientId,
      "albumId" in target ? target.albumId : null,
      this.#groups.idOf(share),
    );
    this.#groups.hide(share);
  }

  /** Hides a share of a group from the members who hid it. */
  hide(share: ShareRecord): void {
    this.#groups.hide(share);
  }

  /** Gives a share the settings of its record. */
  update(share: ShareRecord): void {
    this.#update.run(...settingsOf(share));
  }
}

function settingsOf(share: ShareRecord): Value[] {
  return [
    share.id,
    share.label ?? null,
    share.expires ?? null,
    share.passwordHash ?? null,
    share.maxDownloads ?? null,
    share.downloads ?? 0,
    share.pinned ?? null,
    share.hidesLocation ?? 0,
    share.maxUploadBytes ?? null,
    share.uploadedBytes ?? 0,
    share.canWrite ?? 0,
    share.showsVersions ?? null,
    share.maxUploadsPerAddress ?? null,
    share.epoch,
  ];
}
