/** Every event: its name, what it tells, and who emits it. Ids are those of the database; `publicId` is what the API shows. */

/** A file as events tell of it. */
export interface FileFacts {
  readonly publicId: string;
  readonly name: string;
  /** Path of the folder that holds it. */
  readonly folder: string;
  readonly sizeBytes: number;
  readonly mediaType: string;
  /** 64 hex characters. */
  readonly digest: string;
}

/** A device as events tell of it. */
export interface DeviceFacts {
  readonly id: number;
  readonly publicId: string;
  readonly name: string;
}

/** A folder as events tell of it. */
export interface FolderFacts {
  readonly publicId: string;
  readonly name: string;
  /** Path of the folder that holds it. */
  readonly folder: string;
}

/** A share as events tell of it. Never its token. */
export interface ShareFacts {
  readonly publicId: string;
  readonly kind: "public" | "link" | "upload" | "account";
  readonly label: string | null;
  readonly expiresAtMs: number | null;
  /** What is shared. */
  readonly node: { readonly type: "file" | "folder"; readonly publicId: string; readonly name: string };
}

/** What an account is signed in with, as it was changed. */
export type CredentialName =
  | "password"
  | "email"
  | "two_factor_on"
  | "two_factor_off"
  | "recovery_codes"
  | "passkey_added"
  | "passkey_removed";

/** What each event carries besides the account it belongs to (`users.id`). */
export interface EventCatalogue {
  /**
   * `tree`: a file was made, by upload or copy, or came back: from the trash, by a rewind or to an earlier state. `deviceId`:
   * the device whose request did it, where it was one. Files copied or restored with their folder have no event of their own.
   */
  "file.created": { readonly file: FileFacts; readonly deviceId: number | null };
  /** `tree`: a file got its next content. */
  "file.updated": { readonly file: FileFacts; readonly deviceId: number | null };
  /** `tree`: a file was renamed or moved. */
  "file.moved": { readonly file: FileFacts; readonly deviceId: number | null };
  /** `tree`: a file was deleted or put into the trash. Files that go with their folder have no event of their own. */
  "file.deleted": { readonly file: FileFacts; readonly deviceId: number | null };
  /** `tree`: a folder was made or restored, not as the parent of a new file and not as part of a copy. */
  "folder.created": { readonly folder: FolderFacts; readonly deviceId: number | null };
  /** `tree`: a folder was deleted or put into the trash, with all below it, which is not told one by one. */
  "folder.deleted": { readonly folder: FolderFacts; readonly deviceId: number | null };
  /**
   * `webhooks`, for themselves: content of a file was sent, to its owner or by a share. Emitted after the answer, and only
   * while a webhook of the account subscribes to it.
   */
  "file.downloaded": { readonly file: FileFacts };
  /** `tree`: the stored bytes of an account grew. Reservations do not count. */
  "storage.grown": { readonly usedBeforeBytes: number; readonly usedAfterBytes: number };
  /** `devices`: a device that the account did not have (or had removed) was registered. */
  "device.registered": { readonly device: DeviceFacts };
  /** `devices`: a registered device is about to sign in. In the deed, while what it was signed in by still is as it was. */
  "device.signing_in": { readonly device: DeviceFacts };
  /** `devices`: a device was removed; its tokens are dead. */
  "device.removed": { readonly device: DeviceFacts };
  /** `devices`: a refresh token came a second time, so that somebody has a copy of it; the device was signed out. */
  "security.token_reused": { readonly device: DeviceFacts };
  /**
   * `users`, `two-factor`, `passkeys`: what an account is signed in with was changed; `deviceId` is the device that did
   * it, where it was one.
   */
  "security.credentials_changed": {
    readonly what: CredentialName;
    readonly deviceId: number | null;
    /** The former address, where it is the e-mail that was changed: who is there has to hear of it. */
    readonly emailBefore?: string | undefined;
    /** An administrator did it, over the API or on the command line. */
    readonly byAdministrator?: boolean;
  };
  /** `users`: a user changed which notifications they want, for devices that registered no preferences. */
  "settings.notifications_changed": {};
  /** `mass-change`: a device deletes or replaces far more than usual; its changes wait for approval. */
  "security.mass_change": { readonly device: DeviceFacts; readonly holdId: string; readonly changes: number };
  /**
   * `uploads`: a device's upload became a file, or was found to be one that is there. `path`: where the device wanted it;
   * the file may be elsewhere, or be called otherwise.
   */
  "upload.completed": {
    readonly file: FileFacts;
    readonly path: string;
    readonly deviceId: number;
    readonly uploadId: string | null;
  };
  /** `uploads`: a device's upload failed for good: given up, expired, or its bytes are not what was announced. */
  "upload.failed": {
    readonly name: string;
    readonly deviceId: number;
    readonly uploadId: string;
    readonly reason: string;
  };
  /** `shares`: a share was made; the account is the owner's. */
  "share.created": { readonly share: ShareFacts };
  /** `shares`, `received-shares`: a share was made for this account, or waited for it; the account is the recipient's. */
  "share.received": { readonly share: ShareFacts; readonly ownerName: string };
  /** `shares`, `received-shares`: a share was ended by its owner, or left by the account that it was made for. */
  "share.revoked": { readonly share: ShareFacts };
  /** `shares`: somebody fetched content through a link, once per download; `isFirst` for the first time. */
  "share.downloaded": { readonly file: FileFacts; readonly isFirst: boolean; readonly shareId: string };
  /** `shares`: a link got as many wrong passwords within an hour as are let through freely. At most once a day for each. */
  "share.guessed": { readonly share: ShareFacts; readonly wrongPasswords: number };
  /** `users`: an account was made; the account is the new one. */
  "user.created": { readonly publicId: string; readonly email: string; readonly name: string };
  /** `users`: the e-mail of an account waits for its confirmation: it is a new account, or the address is new. */
  "user.email_unconfirmed": { readonly email: string };
  /** `users`: a new account needs no confirmation of its e-mail, or the e-mail of an account was confirmed, maybe once more. */
  "user.email_confirmed": { readonly email: string };
  /** `api-keys`: a key was made. */
  "security.api_key_created": { readonly keyId: string; readonly name: string };
  /** `plans`: the stored bytes crossed 80, 95 or 100 % of the quota, upwards. */
  "storage.warning": {
    readonly percentage: 80 | 95 | 100;
    readonly usedBytes: number;
    readonly quotaBytes: number;
  };
  /** `integrity`: contents of the account's files were found damaged or missing; some of their names. */
  "storage.damaged": { readonly files: number; readonly names: readonly string[] };
  /** `integrity`: contents, or the database, were found damaged; the account is an administrator's, once for each. */
  "server.damaged": { readonly contents: number; readonly database: boolean };
  /** `blob-places`: the bucket can't be used; `contents` wait for it on this disk alone. To each administrator, once an outage. */
  "server.bucket_away": { readonly problem: string; readonly contents: number };
}

/** The name of an event. */
export type EventName = keyof EventCatalogue;

/** What a listener hears. */
export type EventOf<Name extends EventName> = EventCatalogue[Name] & { readonly accountId: number };
