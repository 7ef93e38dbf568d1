/** Every event: its name, its payload, and which feature emits it. Ids are database ids; `publicId` is the API's id. */

/** A file in the payload of an event. */
export interface FileSummary {
  readonly publicId: string;
  readonly name: string;
  /** Path of the containing folder. */
  readonly folder: string;
  readonly sizeBytes: number;
  readonly mediaType: string;
  /** 64 hex characters. */
  readonly digest: string;
}

/** A device in the payload of an event. */
export interface DeviceFacts {
  readonly id: number;
  readonly publicId: string;
  readonly name: string;
}

/** A folder in the payload of an event. */
export interface FolderSummary {
  readonly publicId: string;
  readonly name: string;
  /** Path of the containing folder. */
  readonly folder: string;
}

/** A share in the payload of an event. Never its token. */
export interface ShareFacts {
  readonly publicId: string;
  readonly kind: "public" | "link" | "upload" | "account";
  readonly label: string | null;
  readonly expiresAtMs: number | null;
  /** What is shared. */
  readonly node: { readonly type: "file" | "folder" | "album"; readonly publicId: string; readonly name: string };
}

/** A change to the credentials of an account. */
export type CredentialName =
  | "password"
  | "email"
  | "two_factor_on"
  | "two_factor_off"
  | "recovery_codes"
  | "passkey_added"
  | "passkey_removed";

/** The payload of each event, besides the account it belongs to (`users.id`). */
interface EventCatalogue {
  /**
   * `tree`: a file was created by upload or copy, or restored: from the trash, by a rewind, or to an earlier state.
   * `deviceId`: the device whose request did it, if any. Files copied or restored with their folder have no own event.
   */
  "file.created": { readonly file: FileSummary; readonly deviceId: number | null };
  /** `tree`: a file got a new version. */
  "file.updated": { readonly file: FileSummary; readonly deviceId: number | null };
  /** `tree`: a file was renamed or moved. */
  "file.moved": { readonly file: FileSummary; readonly deviceId: number | null };
  /** `tree`: a file was deleted or moved to the trash. Files deleted with their folder have no own event. */
  "file.deleted": { readonly file: FileSummary; readonly deviceId: number | null };
  /** `tree`: a folder was created or restored, except as the parent of a new file or as part of a copy. */
  "folder.created": { readonly folder: FolderSummary; readonly deviceId: number | null };
  /** `tree`: a folder was deleted or moved to the trash with all below it, for which there are no events. */
  "folder.deleted": { readonly folder: FolderSummary; readonly deviceId: number | null };
  /**
   * `webhooks`, for itself: content of a file was sent, to its owner or through a share. Emitted after the response,
   * and only while a webhook of the account subscribes to it.
   */
  "file.downloaded": { readonly file: FileSummary };
  /** `tree`: the stored bytes of an account grew. Reservations do not count. */
  "storage.grown": { readonly usedBeforeBytes: number; readonly usedAfterBytes: number };
  /** `devices`: a device that the account did not have (or had removed) was registered. */
  "device.registered": { readonly device: DeviceFacts };
  /** `devices`: a registered device is about to sign in. Emitted before its former tokens are replaced. */
  "device.signing_in": { readonly device: DeviceFacts };
  /** `devices`: a device was removed; its tokens are dead. */
  "device.removed": { readonly device: DeviceFacts };
  /** `devices`: a refresh token was used twice, so somebody has a copy of it; the device was signed out. */
  "security.token_reused": { readonly device: DeviceFacts };
  /**
   * `users`, `two-factor`, `passkeys`: the credentials of an account were changed. `deviceId` is the device that did
   * it, if any.
   */
  "security.credentials_changed": {
    readonly what: CredentialName;
    readonly deviceId: number | null;
    /** The former address if the email was changed: its owner is notified. */
    readonly emailBefore?: string | undefined;
    /** An administrator did it, through the API or the command line. */
    readonly byAdministrator?: boolean;
  };
  /** `users`: a user changed their notification preferences, which apply to devices that registered none. */
  "settings.notifications_changed": {};
  /** `mass-change`: a device deletes or replaces far more than usual; its changes wait for approval. */
  "security.mass_change": { readonly device: DeviceFacts; readonly holdId: string; readonly changes: number };
  /**
   * `uploads`: a device's upload became a file, or an equal file was there already. `path`: the requested path; the
   * file may be elsewhere or have another name.
   */
  "upload.completed": {
    readonly file: FileSummary;
    readonly path: string;
    readonly deviceId: number;
    readonly uploadId: string | null;
  };
  /**
   * `uploads`: a device's upload failed permanently: canceled, expired, or its bytes do not match the declared
   * checksum.
   */
  "upload.failed": {
    readonly name: string;
    readonly deviceId: number;
    readonly uploadId: string;
    readonly reason: string;
  };
  /** `shares`: a share was created; the account is the owner's. */
  "share.created": { readonly share: ShareFacts };
  /** `shares`, `received`: a share for this account was created, or waited for the account; it is the recipient's. */
  "share.received": {
    readonly share: ShareFacts;
    readonly ownerId: string;
    readonly ownerName: string;
    /** False for members of large groups. */
    readonly isMailed?: boolean;
  };
  /** `shares`, `received`: the owner ended a share, or the recipient left it. */
  "share.revoked": { readonly share: ShareFacts };
  /** `shares`: a file was downloaded through a link; `isFirst` for the first download. */
  "share.downloaded": { readonly file: FileSummary; readonly isFirst: boolean; readonly shareId: string };
  /**
   * `shares`: a link reached the number of wrong passwords per hour that is not delayed. At most once a day per link.
   */
  "share.guessed": { readonly share: ShareFacts; readonly wrongPasswords: number };
  /** `users`: an account was created; the account is the new one. */
  "user.created": { readonly publicId: string; readonly email: string; readonly name: string };
  /** `users`: an email address needs confirmation: of a new account, or a changed one. */
  "user.email_unconfirmed": { readonly email: string };
  /** `users`: an email address was confirmed (possibly again), or that of a new account needs no confirmation. */
  "user.email_confirmed": { readonly email: string };
  /** `api-keys`: a key was created. */
  "security.api_key_created": { readonly keyId: string; readonly name: string };
  /** `app-passwords`: one was created. */
  "security.app_password_created": { readonly appPasswordId: string; readonly name: string };
  /** `app-passwords`: one was ended. `deviceId`: its hidden device. */
  "app_password.ended": { readonly deviceId: number };
  /** `plans`: the stored bytes exceeded 80, 95 or 100 % of the quota. */
  "storage.warning": {
    readonly percentage: 80 | 95 | 100;
    readonly usedBytes: number;
    readonly quotaBytes: number;
  };
  /** `integrity`: files of the account are damaged or missing; `names` has some of them. */
  "storage.damaged": { readonly files: number; readonly names: readonly [string, ...string[]] };
  /** `integrity`: blobs or the database are damaged. Emitted once for each administrator's account. */
  "server.damaged": { readonly contents: number; readonly database: boolean };
  /**
   * `remote-store`: the bucket is unreachable; `contents` blobs are on this disk only. Once per outage and
   * administrator.
   */
  "server.bucket_away": { readonly problem: string; readonly contents: number };
}

/** The name of an event. */
export type EventName = keyof EventCatalogue;

/** The event that a listener receives. */
export type EventOf<Name extends EventName> = EventCatalogue[Name] & { readonly accountId: number };
