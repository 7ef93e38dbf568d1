/** Types of the API's records, generated from the OpenAPI document by scripts/client-types.ts. Do not edit. */

/** The named records. */
export interface Schemas {
  readonly Error: {
    readonly success: false;
    readonly error: {
      readonly code: "VALIDATION_ERROR" | "AUTHENTICATION_FAILED" | "INSUFFICIENT_PERMISSIONS" | "RESOURCE_NOT_FOUND" | "RATE_LIMIT_EXCEEDED" | "INTERNAL_ERROR" | "DATABASE_ERROR" | "SERVICE_UNAVAILABLE" | "STORAGE_ERROR";
      readonly message: string;
      readonly details: {
        readonly reason: "invalid_json" | "invalid_field" | "invalid_multipart" | "invalid_path" | "path_too_long" | "invalid_request" | "checksum_mismatch" | "not_a_folder" | "chunk_size" | "chunk_checksum" | "forbidden_target" | "missing_token" | "invalid_token" | "expired_token" | "revoked_token" | "bad_credentials" | "password_required" | "second_factor_required" | "invalid_code" | "role" | "scope" | "share_permission" | "csrf" | "account_disabled" | "device_limit" | "signup_closed" | "email_unconfirmed" | "final_upload" | "not_found" | "method_not_allowed" | "email_taken" | "name_taken" | "locked" | "folder_not_empty" | "version_conflict" | "idempotency_key" | "last_admin" | "upload_state" | "import_state" | "upload_offset" | "deleted_by_you" | "confirmation_required" | "body_timeout" | "upload_expired" | "share_expired" | "share_used_up" | "precondition_failed" | "file_too_large" | "quota_exceeded" | "body_too_large" | "headers_too_large" | "unsupported_media_type" | "range_not_satisfiable" | "rate_limited" | "unexpected" | "database_error" | "database_busy" | "storage_error" | "content_missing" | "content_damaged" | "store_missing" | "starting" | "shutting_down" | "overloaded" | "provider_unavailable" | "thumbnail_pending" | "disk_full";
        readonly field?: string;
      };
    };
  };
  readonly Success: {
    readonly success: true;
    readonly message?: string;
  };
  readonly Pagination: {
    readonly page: number;
    readonly limit: number;
    readonly total: number;
    readonly totalPages: number;
    readonly hasNext: boolean;
    readonly hasPrev: boolean;
  };
  readonly FileBasics: {
    readonly id: string;
    readonly name: string;
    readonly mimeType: string;
    readonly size: number;
    readonly folder: Schemas["FolderPath"];
    readonly url: string;
    readonly thumbnailUrl: string;
    readonly hasThumbnail: boolean;
    readonly isPublic: boolean;
    readonly tags: readonly string[];
    readonly metadata: Readonly<Record<string, string>>;
    readonly checksum: Schemas["Checksum"];
    readonly version: number;
  };
  readonly UploadedFile: Schemas["FileBasics"] & {
    readonly originalName: string;
    readonly uploadedAt: string;
    readonly fileModifiedAt: string | null;
    readonly capturedAt: string | null;
  };
  readonly FileItem: Schemas["FileBasics"] & {
    readonly type: "file";
    readonly createdAt: string;
    readonly modifiedAt: string;
    readonly isFavorite?: boolean;
    readonly shared?: Schemas["ShareMark"] | null;
    readonly fileModifiedAt: string | null;
    readonly contentAvailable?: boolean;
    readonly isDeleted?: boolean;
  };
  readonly FolderItem: {
    readonly id: string;
    readonly name: string;
    readonly type: "folder";
    readonly folder: Schemas["FolderPath"];
    readonly path: Schemas["FolderPath"];
    readonly itemCount: number;
    readonly size?: number | null;
    readonly createdAt: string;
    readonly modifiedAt: string;
    readonly description: string;
    readonly isFavorite?: boolean;
    readonly shared?: Schemas["ShareMark"] | null;
    readonly isDeleted?: boolean;
  };
  readonly FileInfo: Schemas["FileBasics"] & {
    readonly contentAvailable?: boolean;
    readonly isDeleted?: boolean;
    readonly originalName: string;
    readonly downloadUrl: string;
    readonly createdAt: string;
    readonly modifiedAt: string;
    readonly uploadedAt: string;
    readonly fileModifiedAt: string | null;
    readonly capturedAt: string | null;
    readonly lastAccessedAt: string;
    readonly downloadCount: number;
    readonly shareLink: string | null;
    readonly isFavorite?: boolean;
    readonly owner: {
      readonly id: string;
      readonly name: string;
      readonly email: string;
    };
    readonly media: Schemas["Media"] | null;
    readonly place: {
      readonly id: string;
      readonly name: string;
    } | null;
    readonly motion: Schemas["Motion"];
    readonly motionFileId: string | null;
  };
  readonly UpdatedFile: {
    readonly id: string;
    readonly name: string;
    readonly folder: Schemas["FolderPath"];
    readonly modifiedAt: string;
    readonly isPublic: boolean;
    readonly shareLink: string | null;
    readonly tags: readonly string[];
    readonly metadata: Readonly<Record<string, string>>;
  };
  readonly DeletedNode: {
    readonly id: string;
    readonly name: string;
    readonly deletedAt: string;
  };
  readonly Album: {
    readonly id: string;
    readonly type: "album";
    readonly name: string;
    readonly description: string;
    readonly itemCount: number;
    readonly coverFileId: string | null;
    readonly coverUrl: string | null;
    readonly createdAt: string;
    readonly modifiedAt: string;
    readonly isShared: boolean;
    readonly owner?: {
      readonly id: string;
      readonly name: string;
      readonly email: string;
    };
  };
  readonly Share: {
    readonly id: string;
    readonly kind: "public" | "link" | "upload" | "account";
    readonly permissions: "read" | "upload" | "write";
    readonly url: string;
    readonly token: string;
    readonly label: string | null;
    readonly expiresAt: string | null;
    readonly hasPassword: boolean;
    readonly maxDownloads: number | null;
    readonly downloads: number;
    readonly views: number;
    readonly lastAccessedAt: string | null;
    readonly createdAt: string;
    readonly pinned: boolean;
    readonly pinnedVersion: number | null;
    readonly hideLocation: boolean;
    readonly maxUploadBytes: number | null;
    readonly maxUploadsPerAddress: number | null;
    readonly uploads: number;
    readonly uploadedBytes: number;
    readonly user: string | null;
    readonly person: {
      readonly id: string;
      readonly name: string;
    } | null;
    readonly group: {
      readonly id: string;
      readonly name: string;
    } | null;
    readonly versions: boolean | null;
    readonly file?: {
      readonly id: string;
      readonly name: string;
      readonly type: "file";
    };
    readonly folder?: {
      readonly id: string;
      readonly name: string;
      readonly type: "folder";
    };
    readonly albumId?: string;
    readonly album?: {
      readonly id: string;
      readonly name: string;
      readonly type: "album";
    };
  };
  readonly Conflict: {
    readonly conflictId: string;
    readonly fileId: string;
    readonly type: "modified" | "deleted" | "name";
    readonly action: "upload" | "update" | "rename" | "move" | "delete";
    readonly localId: string;
    readonly local: {
      readonly name: string | null;
      readonly folder: string | null;
      readonly size: number | null;
      readonly checksum: Schemas["Checksum"] | null;
      readonly modifiedAt: string | null;
      readonly deviceId: string;
    };
    readonly remote: {
      readonly fileId: string;
      readonly name: string | null;
      readonly folder: string | null;
      readonly size: number | null;
      readonly checksum: Schemas["Checksum"] | null;
      readonly modifiedAt: string | null;
      readonly deviceId: string | null;
    };
    readonly detectedAt: string;
    readonly awaitsContent: boolean;
  };
  readonly Account: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly role: "admin" | "user" | "viewer";
    readonly plan: "free" | "pro" | "enterprise";
    readonly quota: number | null;
    readonly quotaOverride: boolean;
    readonly disabled: boolean;
    readonly emailVerified: boolean;
    readonly createdAt: string;
    readonly lastActiveAt: string | null;
    readonly storage: {
      readonly used: number;
      readonly files: number;
      readonly folders: number;
    };
    readonly devices: number;
    readonly twoFactor: boolean;
  };
  readonly AccountImport: Schemas["Import"] & {
    readonly user: {
      readonly id: string;
      readonly name: string;
      readonly email: string;
    };
  };
  readonly AccountUpdate: {
    readonly email?: string;
    readonly name?: string;
    readonly password?: string;
    readonly role?: "admin" | "user" | "viewer";
    readonly plan?: "free" | "pro" | "enterprise";
    readonly quota?: (number | null) | "plan";
    readonly disabled?: boolean;
    readonly emailVerified?: boolean;
    readonly endKeys?: boolean;
    readonly currentPassword?: Schemas["CurrentPassword"];
    readonly code?: Schemas["Code"];
  };
  readonly ApiKey: {
    readonly id: string;
    readonly name: string;
    readonly prefix: string;
    readonly scopes: readonly ("files:read" | "files:write" | "shares" | "profile" | "admin")[];
    readonly createdAt: string;
    readonly lastUsedAt: string | null;
    readonly expiresAt: string | null;
  };
  readonly AppPassword: {
    readonly id: string;
    readonly name: string;
    readonly access: "read" | "write";
    readonly createdAt: string;
    readonly expiresAt: string | null;
    readonly lastUsedAt: string | null;
    readonly lastAddress: string | null;
    readonly lastClient: string | null;
    readonly folder: string | null;
  };
  readonly AppPasswords: {
    readonly appPasswords: readonly Schemas["AppPassword"][];
  };
  readonly ArchiveEntry: {
    readonly name: string;
    readonly path: string;
    readonly type: "file" | "folder";
    readonly mimeType?: string;
    readonly size?: number;
    readonly compressedSize?: number;
    readonly modifiedAt: string | null;
    readonly isEncrypted: boolean;
  };
  readonly Extraction: {
    readonly id: string;
    readonly fileId: string;
    readonly fileName: string;
    readonly state: "waiting" | "running" | "done" | "failed" | "canceled";
    readonly files: number;
    readonly filesDone: number;
    readonly bytes: number;
    readonly bytesDone: number;
    readonly startedAt: string;
    readonly folder: {
      readonly id: string;
      readonly path: Schemas["FolderPath"];
    } | null;
    readonly error: {
      readonly reason: string;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    } | null;
  };
  readonly AuditEntry: {
    readonly id: string;
    readonly at: string;
    readonly action: string;
    readonly outcome: "done" | "refused" | "failed";
    readonly reason: string | null;
    readonly target: {
      readonly type: string;
      readonly id: string | null;
    } | null;
    readonly clientAddress: string | null;
    readonly userAgent: string | null;
    readonly times: number;
    readonly user: {
      readonly id: string | null;
      readonly email: string | null;
    } | null;
    readonly via: {
      readonly kind: "web" | "mobile" | "key" | "app" | "cli" | "system" | "none";
      readonly name: string | null;
    };
    readonly account: {
      readonly id: string | null;
      readonly email: string | null;
    } | null;
    readonly details: Readonly<Record<string, unknown>>;
  };
  readonly Bytes: number;
  readonly ChangedFile: {
    readonly id: string;
    readonly name: string;
    readonly folder: Schemas["FolderPath"];
    readonly size: number;
    readonly modifiedAt: string;
    readonly checksum: Schemas["Checksum"];
  };
  readonly Checksum: string;
  readonly Chunk: {
    readonly uploadId: string;
    readonly index: number | null;
    readonly completedChunks: readonly number[];
    readonly bytesUploaded: Schemas["Bytes"];
    readonly totalChunks: number;
  };
  readonly Code: string;
  readonly CurrentPassword: string;
  readonly Confirmed: {
    readonly confirmedUntil: string;
  };
  readonly Device: {
    readonly id: string;
    readonly name: string;
    readonly platform: string;
    readonly model?: string;
    readonly osVersion?: string;
    readonly appVersion?: string;
    readonly registeredAt: string;
    readonly lastActiveAt: string;
    readonly isCurrent: boolean;
    readonly settings: Schemas["DeviceSettings"];
  };
  readonly DeviceFacts: {
    readonly id: string;
    readonly name: string;
    readonly platform: string;
    readonly model?: string;
    readonly osVersion?: string;
    readonly appVersion?: string;
    readonly registeredAt: string;
    readonly lastActiveAt: string;
  };
  readonly DeviceSettings: {
    readonly autoUpload: boolean;
    readonly backgroundSync: boolean;
    readonly wifiOnly: boolean;
    readonly uploadQuality: "original" | "high" | "medium" | "low";
    readonly syncFolders: readonly string[];
    readonly maxCacheSize: number;
  };
  readonly DeviceSignedIn: {
    readonly success: true;
    readonly user: Schemas["User"];
    readonly tokens: Schemas["DeviceTokens"];
    readonly device: {
      readonly id: string;
      readonly name: string;
      readonly registeredAt: string;
    };
    readonly syncData: {
      readonly lastSyncAt: string | null;
      readonly pendingUploads: number;
      readonly cacheSize: number;
    };
  };
  readonly Durability: {
    readonly fileId: string;
    readonly checksum: Schemas["Checksum"];
    readonly matches?: boolean;
    readonly stored: boolean;
    readonly storedAt: string;
    readonly verifiedAt: string | null;
    readonly verified: boolean;
    readonly damaged: boolean;
    readonly reason?: "verify_limit" | "overloaded" | "storage_error" | "content_missing";
    readonly snapshotAt: string | null;
  };
  readonly DeviceTokens: {
    readonly accessToken: string;
    readonly refreshToken: string;
    readonly expiresIn: string;
  };
  readonly FailedItem: {
    readonly id: string;
    readonly error: Schemas["ItemError"];
  };
  readonly FileIds: readonly string[];
  readonly Finding: {
    readonly id: string;
    readonly kind: "damaged" | "missing" | "unreadable" | "database";
    readonly checksum: string | null;
    readonly size: number | null;
    readonly detail: string;
    readonly files: number;
    readonly foundAt: string;
    readonly seenAt: string;
    readonly resolvedAt: string | null;
    readonly resolution: string | null;
  };
  readonly FolderPath: string;
  readonly Group: {
    readonly id: string;
    readonly name: string;
    readonly members: number;
    readonly shares: number;
    readonly createdAt: string;
  };
  readonly GuestUpload: {
    readonly id: string;
    readonly state: "receiving" | "complete";
    readonly kind: "whole" | "partial" | "final";
    readonly name: string;
    readonly offset: number;
    readonly length: number | null;
    readonly expiresAt: string | null;
    readonly file: {
      readonly name: string;
      readonly size: number;
      readonly checksum: Schemas["Checksum"];
    } | null;
  };
  readonly HoldDecision: {
    readonly holdId: string;
    readonly deviceId: string;
    readonly changes: number;
    readonly since: string;
    readonly expiresAt: string;
    readonly decision: "accepted" | "declined";
  };
  readonly Holds: {
    readonly holds: readonly {
      readonly holdId: string;
      readonly deviceId: string;
      readonly changes: number;
      readonly since: string;
      readonly expiresAt: string;
    }[];
  };
  readonly Id: {
    readonly id: string;
  };
  readonly Import: {
    readonly id: string;
    readonly kind: "takeout" | "nextcloud" | "immich";
    readonly source: string;
    readonly folder: Schemas["FolderPath"];
    readonly origin: "account" | "administrator" | "command";
    readonly state: "waiting" | "running" | "paused" | "interrupted" | "completed" | "failed" | "canceled";
    readonly message: string | null;
    readonly needsSecret: boolean;
    readonly total: number | null;
    readonly totalBytes: number | null;
    readonly found: number;
    readonly foundBytes: number;
    readonly imported: number;
    readonly importedBytes: number;
    readonly updated: number;
    readonly merged: number;
    readonly unchanged: number;
    readonly deleted: number;
    readonly problems: readonly {
      readonly reason: string;
      readonly count: number;
    }[];
    readonly createdAt: string;
    readonly changedAt: string;
    readonly endedAt: string | null;
  };
  readonly Inbox: {
    readonly notifications: readonly Schemas["Notification"][];
    readonly unread: number;
    readonly pagination: Schemas["Pagination"];
  };
  readonly Invite: {
    readonly id: string;
    readonly email: string | null;
    readonly role: "admin" | "user" | "viewer";
    readonly plan: string | null;
    readonly state: "open" | "used" | "expired";
    readonly createdAt: string;
    readonly createdBy: string | null;
    readonly expiresAt: string;
    readonly usedAt: string | null;
    readonly usedBy: string | null;
  };
  readonly Item: Schemas["FileItem"] | Schemas["FolderItem"];
  readonly ItemError: {
    readonly code: string;
    readonly message: string;
    readonly details: {
      readonly reason: string;
    };
  };
  readonly Job: {
    readonly name: string;
    readonly description: string;
    readonly schedule: string;
    readonly isRunning: boolean;
    readonly lastStartedAt: string | null;
    readonly lastFinishedAt: string | null;
    readonly lastResult: string | null;
    readonly lastError: string | null;
    readonly nextRunAt: string | null;
  };
  readonly LinkProof: {
    readonly password?: string;
    readonly currentPassword?: Schemas["CurrentPassword"];
    readonly code?: Schemas["Code"];
    readonly returnTo?: string;
  };
  readonly Media: {
    readonly width: number | null;
    readonly height: number | null;
    readonly orientation: number | null;
    readonly durationSeconds: number | null;
    readonly takenAt: string | null;
    readonly camera: string | null;
    readonly location: {
      readonly latitude: number;
      readonly longitude: number;
    } | null;
    readonly codec: string | null;
    readonly bitrate: number | null;
    readonly title: string | null;
    readonly artist: string | null;
    readonly album: string | null;
  };
  readonly Message: {
    readonly success: true;
    readonly message: string;
  };
  readonly Motion: "pair" | "embedded" | null;
  readonly NewShare: {
    readonly expiresAt?: string | null;
    readonly expiresIn?: string | null;
    readonly password?: string | null;
    readonly maxDownloads?: number | null;
    readonly label?: string | null;
    readonly permissions?: "read" | "upload" | "write" | null;
    readonly pinned?: boolean | null;
    readonly hideLocation?: boolean | null;
    readonly maxUploadBytes?: number | null;
    readonly maxUploadsPerAddress?: number | null;
    readonly versions?: boolean | null;
    readonly user?: string | null;
    readonly users?: readonly string[];
    readonly groups?: readonly string[];
  };
  readonly Notification: {
    readonly id: string;
    readonly category: "uploads" | "shares" | "storage" | "security";
    readonly title: string;
    readonly body: string;
    readonly data: Readonly<Record<string, string>>;
    readonly createdAt: string;
    readonly readAt: string | null;
  };
  readonly Passkey: {
    readonly id: string;
    readonly name: string;
    readonly rpId: string;
    readonly backedUp: boolean;
    readonly createdAt: string;
    readonly lastUsedAt: string | null;
  };
  readonly PasskeyAssertion: {
    readonly id: string;
    readonly rawId: string;
    readonly type: "public-key";
    readonly response: {
      readonly clientDataJSON: string;
      readonly authenticatorData: string;
      readonly signature: string;
      readonly userHandle?: string;
    };
  };
  readonly PasskeyOptions: {
    readonly options: {
      readonly challenge: string;
    };
  };
  readonly Photo: {
    readonly id: string;
    readonly name: string;
    readonly isVideo: boolean;
    readonly mimeType: string;
    readonly size: number;
    readonly width: number | null;
    readonly height: number | null;
    readonly durationSeconds: number | null;
    readonly takenAt: string;
    readonly motion: Schemas["Motion"];
    readonly motionFileId: string | null;
    readonly thumbnailUrl: string;
    readonly hasThumbnail: boolean;
    readonly isFavorite: boolean;
    readonly shared: Schemas["ShareMark"] | null;
  };
  readonly Pins: {
    readonly pins: readonly {
      readonly id: string;
      readonly type: "folder" | "album";
      readonly name: string;
      readonly path?: Schemas["FolderPath"];
      readonly share?: string;
      readonly owner: {
        readonly id: string;
        readonly name: string;
        readonly email: string;
      } | null;
    }[];
  };
  readonly Plan: {
    readonly name: "free" | "pro" | "enterprise";
    readonly isDefault: boolean;
    readonly maxFileSize: number;
    readonly quota: number | null;
    readonly maxNodes: number | null;
    readonly devices: number | null;
    readonly limits: Readonly<Record<string, {
      readonly limit: number | null;
      readonly windowSeconds: number;
    }>>;
  };
  readonly Preferences: {
    readonly uploads: boolean;
    readonly shares: boolean;
    readonly storage: boolean;
    readonly security: boolean;
    readonly quietHours: {
      readonly enabled: boolean;
      readonly start: string;
      readonly end: string;
      readonly timezone: string;
    };
  };
  readonly PreferencesUpdate: {
    readonly uploads?: boolean;
    readonly shares?: boolean;
    readonly storage?: boolean;
    readonly security?: boolean;
    readonly quietHours?: {
      readonly enabled?: boolean;
      readonly start?: string;
      readonly end?: string;
      readonly timezone?: string;
    };
  };
  readonly Profile: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly role: "admin" | "user" | "viewer";
    readonly plan: "free" | "pro" | "enterprise";
    readonly createdAt: string;
    readonly emailVerified: boolean;
    readonly avatar: {
      readonly version: string;
    } | null;
  };
  readonly PushRegistration: {
    readonly deviceId: string;
    readonly platform: string;
    readonly provider: string | null;
    readonly preferences: Schemas["Preferences"];
  };
  readonly FactorProof: {
    readonly currentPassword?: Schemas["CurrentPassword"];
    readonly code?: Schemas["Code"];
    readonly recoveryCode?: string;
  };
  readonly Proof: {
    readonly currentPassword?: Schemas["CurrentPassword"];
    readonly code?: Schemas["Code"];
  };
  readonly RecoveryCodes: {
    readonly recoveryCodes: readonly string[];
  };
  readonly RemovedDevice: {
    readonly id: string;
    readonly name: string;
    readonly removedAt: string;
  };
  readonly Rewind: {
    readonly deviceId: string;
    readonly since: string;
    readonly dryRun: boolean;
    readonly undone: readonly {
      readonly fileId: string;
      readonly kind: "file" | "folder";
      readonly action: "deleted_created" | "restored_deleted" | "restored_content" | "renamed_back" | "moved_back" | "labels_back";
      readonly name: string;
      readonly folder: string;
      readonly formerId?: string;
    }[];
    readonly skipped: readonly {
      readonly fileId: string;
      readonly kind: "file" | "folder";
      readonly name: string;
      readonly folder: string;
      readonly reason: "changed_by_others" | "deleted_by_others" | "content_gone" | "not_empty";
      readonly message: string;
    }[];
    readonly failed: readonly {
      readonly fileId: string;
      readonly error: Schemas["ItemError"];
    }[];
    readonly counts: {
      readonly undone: number;
      readonly skipped: number;
      readonly failed: number;
    };
    readonly hasMore: boolean;
  };
  readonly RewindRequest: {
    readonly since: string;
    readonly dryRun?: boolean;
  };
  readonly ServerSettings: {
    readonly settings: readonly {
      readonly key: string;
      readonly group: "signup" | "plans" | "rates" | "retention" | "search" | "mail";
      readonly kind: "toggle" | "choice" | "integer" | "number" | "size" | "duration" | "text" | "list";
      readonly value: (string | null) | number | boolean;
      readonly text: string;
      readonly source: string;
      readonly isStored: boolean;
      readonly isEditable: boolean;
      readonly fixedBy: string | null;
      readonly default: (string | null) | number | boolean;
      readonly defaultText: string;
      readonly min: number | null;
      readonly max: number | null;
      readonly unit: "bytes" | "ms" | null;
      readonly choices: readonly string[] | null;
      readonly noneWord: string | null;
      readonly needsRestart: boolean;
      readonly problem: string | null;
      readonly help: string;
    }[];
    readonly mail: {
      readonly isReady: boolean;
      readonly hasPassword: boolean;
      readonly problem: string | null;
    };
  };
  readonly Session: {
    readonly id: string;
    readonly kind: "web" | "mobile" | "cli";
    readonly createdAt: string;
    readonly expiresAt: string;
    readonly lastSeenAt: string;
    readonly userAgent: string | null;
    readonly clientAddress: string | null;
    readonly isCurrent: boolean;
    readonly device?: {
      readonly id: string;
      readonly name: string;
    };
  };
  readonly ShareMark: {
    readonly links: number;
    readonly people: number;
    readonly dropBoxes: number;
    readonly expiresAt: string | null;
  };
  readonly SessionSummary: {
    readonly id: string;
    readonly kind: "web" | "mobile" | "cli" | "key";
    readonly createdAt: string;
    readonly expiresAt: string | null;
    readonly device?: {
      readonly id: string;
      readonly name: string;
    };
    readonly confirmedUntil?: string | null;
    readonly scopes?: readonly ("files:read" | "files:write" | "shares" | "profile" | "admin")[];
  };
  readonly Settings: {
    readonly language: string;
    readonly timezone: string;
    readonly theme: "system" | "light" | "dark";
    readonly defaultView: "list" | "grid";
    readonly showNameToGuests: boolean;
    readonly notifications: Schemas["Preferences"];
    readonly versioning: {
      readonly keep: number;
    };
  };
  readonly SignedIn: {
    readonly success: true;
    readonly user: Schemas["User"];
    readonly token: string;
    readonly expiresIn: string;
  };
  readonly TrashedItem: Schemas["Item"] & {
    readonly originalFolder: Schemas["FolderPath"];
    readonly trashedAt: string;
    readonly deletedAt: string;
    readonly expiresAt: string;
  };
  readonly TusUpload: {
    readonly id: string;
    readonly state: "receiving" | "complete";
    readonly kind: "whole" | "partial" | "final";
    readonly name: string;
    readonly offset: number;
    readonly length: number | null;
    readonly expiresAt: string | null;
    readonly folder: string;
    readonly file: Schemas["UploadedFile"] | null;
  };
  readonly UploadProgress: {
    readonly uploadId: string;
    readonly status: "pending" | "uploading" | "paused" | "completed" | "failed" | "cancelled" | "expired";
    readonly completedChunks: readonly number[];
    readonly missingChunks: readonly number[];
    readonly bytesUploaded: Schemas["Bytes"];
    readonly totalBytes: Schemas["Bytes"];
    readonly totalChunks: number;
    readonly percentage: number;
    readonly expiresAt: string;
    readonly fileId?: string;
  };
  readonly Usage: {
    readonly storage: {
      readonly used: number;
      readonly quota: number | null;
      readonly remaining: number | null;
      readonly percentage: number;
      readonly files: number;
      readonly folders: number;
      readonly versions: number;
      readonly trash: number;
    };
    readonly byType: readonly {
      readonly type: string;
      readonly files: number;
      readonly bytes: number;
    }[];
    readonly transfers: {
      readonly period: string;
      readonly uploads: number;
      readonly uploadedBytes: number;
      readonly downloads: number;
      readonly downloadedBytes: number;
    };
    readonly devices: {
      readonly count: number;
      readonly limit: number | null;
    };
    readonly plan: {
      readonly name: "free" | "pro" | "enterprise";
      readonly maxFileSize: number | null;
      readonly maxNodes: number | null;
    };
  };
  readonly User: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
  };
  readonly Webhook: {
    readonly id: string;
    readonly url: string;
    readonly events: readonly Schemas["WebhookEventName"][];
    readonly active: boolean;
    readonly stoppedBecause: string | null;
    readonly failures: number;
    readonly waiting: number;
    readonly dropped: number;
    readonly createdAt: string;
    readonly updatedAt: string;
  };
  readonly WebhookDelivery: {
    readonly id: string;
    readonly event: string;
    readonly status: "queued" | "delivered" | "failed";
    readonly attempts: number;
    readonly responseStatus: number | null;
    readonly error: string | null;
    readonly createdAt: string;
    readonly nextAttemptAt: string | null;
    readonly finishedAt: string | null;
  };
  readonly WebhookEventName: "file.created" | "file.updated" | "file.moved" | "file.deleted" | "file.downloaded" | "folder.created" | "folder.deleted" | "share.created" | "share.revoked" | "share.downloaded" | "device.registered" | "device.removed" | "storage.warning" | "user.created";
  readonly WebhookWithSecret: Schemas["Webhook"] & {
    readonly secret: string;
  };
}

/** `data` of the response to each request. */
export interface ResponseData {
  readonly "POST /api/auth/confirm": Schemas["Confirmed"];
  readonly "GET /api/users/profile": Schemas["Profile"];
  readonly "PUT /api/users/profile": Schemas["Profile"];
  readonly "DELETE /api/users/profile": Schemas["Id"];
  readonly "GET /api/users/settings": Schemas["Settings"];
  readonly "PUT /api/users/settings": Schemas["Settings"];
  readonly "GET /api/users/usage": Schemas["Usage"];
  readonly "GET /api/users/usage/rate-limits": {
    readonly period: string;
    readonly endpoints: readonly {
      readonly endpoint: string;
      readonly resource: string;
      readonly limit: number;
      readonly used: number;
      readonly remaining: number;
      readonly usagePercentage: number;
      readonly resetsAt: string;
    }[];
    readonly overallUsage: {
      readonly totalRequests: number;
      readonly successfulRequests: number;
      readonly rateLimitedRequests: number;
      readonly successRate: number;
    };
  };
  readonly "GET /api/users/sessions": {
    readonly sessions: readonly Schemas["Session"][];
  };
  readonly "DELETE /api/users/sessions/{id}": Schemas["Id"];
  readonly "POST /api/users/api-keys": Schemas["ApiKey"] & {
    readonly key: string;
  };
  readonly "GET /api/users/api-keys": {
    readonly apiKeys: readonly Schemas["ApiKey"][];
  };
  readonly "DELETE /api/users/api-keys/{id}": Schemas["Id"];
  readonly "POST /api/users/app-passwords": Schemas["AppPassword"] & {
    readonly username: string;
    readonly password: string;
    readonly url: string;
  };
  readonly "GET /api/users/app-passwords": {
    readonly appPasswords: readonly Schemas["AppPassword"][];
    readonly url: string;
  };
  readonly "DELETE /api/users/app-passwords/{id}": Schemas["Id"];
  readonly "GET /api/users/two-factor": {
    readonly enabled: boolean;
    readonly recoveryCodesLeft: number;
    readonly passkeys: number;
  };
  readonly "POST /api/users/two-factor/setup": {
    readonly secret: string;
    readonly otpauthUrl: string;
  };
  readonly "POST /api/users/two-factor/enable": Schemas["RecoveryCodes"];
  readonly "POST /api/users/two-factor/disable": {
    readonly enabled: boolean;
  };
  readonly "POST /api/users/two-factor/recovery-codes": Schemas["RecoveryCodes"];
  readonly "GET /api/users/passkeys": {
    readonly passkeys: readonly Schemas["Passkey"][];
  };
  readonly "POST /api/users/passkeys": Schemas["Passkey"];
  readonly "POST /api/users/passkeys/options": Schemas["PasskeyOptions"];
  readonly "PATCH /api/users/passkeys/{id}": Schemas["Passkey"];
  readonly "DELETE /api/users/passkeys/{id}": Schemas["Id"];
  readonly "POST /api/auth/passkey/options": Schemas["PasskeyOptions"];
  readonly "POST /api/auth/confirm/passkey/options": Schemas["PasskeyOptions"];
  readonly "POST /api/auth/confirm/passkey": Schemas["Confirmed"];
  readonly "POST /api/auth/email/confirm": {
    readonly email: string;
    readonly emailVerified: true;
  };
  readonly "POST /api/auth/email/send": {
    readonly email: string;
    readonly emailVerified: boolean;
    readonly sent: boolean;
  };
  readonly "GET /api/auth/methods": {
    readonly password: boolean;
    readonly signup: "open" | "invite" | "closed";
    readonly oidc: {
      readonly name: string;
      readonly startUrl: string;
    } | null;
    readonly passkeys: boolean;
    readonly mail: boolean;
    readonly isSetUp: boolean;
  };
  readonly "GET /api/auth/oidc/link": {
    readonly identities: readonly {
      readonly issuer: string;
      readonly createdAt: string;
    }[];
  };
  readonly "POST /api/auth/oidc/link": {
    readonly url: string;
  };
  readonly "DELETE /api/auth/oidc/link": {
    readonly removed: number;
  };
  readonly "POST /api/auth/confirm/provider": {
    readonly url: string;
  };
  readonly "POST /api/admin/invites": Schemas["Invite"] & {
    readonly invite: string;
    readonly url: string;
    readonly mailed: boolean;
  };
  readonly "GET /api/admin/invites": {
    readonly invites: readonly Schemas["Invite"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "DELETE /api/admin/invites/{id}": Schemas["Id"];
  readonly "GET /api/admin/groups": {
    readonly groups: readonly Schemas["Group"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "POST /api/admin/groups": Schemas["Group"];
  readonly "GET /api/admin/groups/{id}": Schemas["Group"];
  readonly "PATCH /api/admin/groups/{id}": Schemas["Group"];
  readonly "DELETE /api/admin/groups/{id}": Schemas["Id"];
  readonly "GET /api/admin/groups/{id}/members": {
    readonly members: readonly {
      readonly id: string;
      readonly email: string;
      readonly name: string;
      readonly disabled: boolean;
      readonly addedAt: string;
    }[];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "PUT /api/admin/groups/{id}/members/{userId}": {
    readonly id: string;
    readonly userId: string;
  };
  readonly "DELETE /api/admin/groups/{id}/members/{userId}": {
    readonly id: string;
    readonly userId: string;
  };
  readonly "GET /api/users/people": {
    readonly people: readonly {
      readonly id: string;
      readonly name: string;
      readonly email?: string;
    }[];
    readonly groups: readonly {
      readonly id: string;
      readonly name: string;
      readonly members: number;
    }[];
  };
  readonly "GET /api/users/groups/{id}/members": {
    readonly people: readonly {
      readonly id: string;
      readonly name: string;
    }[];
    readonly total: number;
  };
  readonly "POST /api/files/folders": Schemas["FolderItem"];
  readonly "GET /api/files/folders/{id}": Schemas["FolderItem"];
  readonly "PUT /api/files/folders/{id}": Schemas["FolderItem"];
  readonly "DELETE /api/files/folders/{id}": Schemas["DeletedNode"];
  readonly "POST /api/files/trash": {
    readonly trashed: readonly Schemas["TrashedItem"][];
    readonly failed: readonly Schemas["FailedItem"][];
  };
  readonly "GET /api/files/trash": {
    readonly files: readonly Schemas["TrashedItem"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "DELETE /api/files/trash": {
    readonly deleted: number;
  };
  readonly "POST /api/files/trash/restore": {
    readonly restored: readonly Schemas["Item"][];
    readonly failed: readonly Schemas["FailedItem"][];
  };
  readonly "DELETE /api/files/trash/{id}": Schemas["DeletedNode"];
  readonly "GET /api/files/tags": {
    readonly tags: readonly {
      readonly tag: string;
      readonly count: number;
    }[];
  };
  readonly "POST /api/files/tags": {
    readonly updated: readonly Schemas["FileItem"][];
    readonly failed: readonly Schemas["FailedItem"][];
  };
  readonly "GET /api/files/search": {
    readonly files: readonly (Schemas["Item"] & {
      readonly permission: "own" | "write" | "read";
      readonly canManage: boolean;
      readonly showsVersions: boolean;
      readonly share?: string;
      readonly owner?: {
        readonly id: string;
        readonly name: string;
      };
      readonly matches?: readonly {
        readonly kind: "content";
        readonly snippet: readonly {
          readonly text: string;
          readonly isMatch: boolean;
        }[];
        readonly page: number | null;
      }[];
    })[];
    readonly pagination: Schemas["Pagination"];
    readonly totalIsLowerBound: boolean;
    readonly isIndexing: boolean;
    readonly contents: {
      readonly state: "ready" | "preparing" | "off";
      readonly percent: number;
    };
    readonly sort: "relevance" | "name" | "natural" | "size" | "createdAt" | "modifiedAt" | "fileModifiedAt";
    readonly order: "asc" | "desc";
    readonly query: readonly {
      readonly key: string;
      readonly value: string;
      readonly isPhrase?: boolean;
      readonly isExcluded: boolean;
    }[];
  };
  readonly "GET /api/files/search/suggestions": {
    readonly suggestions: readonly {
      readonly kind: "file" | "folder" | "tag" | "word";
      readonly text: string;
      readonly id?: string;
      readonly mimeType?: string;
      readonly folder?: string;
      readonly path?: string;
      readonly share?: string;
      readonly owner?: {
        readonly id: string;
        readonly name: string;
      };
    }[];
  };
  readonly "GET /api/files/{id}/activity": {
    readonly activity: readonly {
      readonly kind: "created" | "content" | "renamed" | "moved" | "trashed" | "restored" | "shared" | "version_deleted" | "downloaded";
      readonly at: string;
      readonly by: {
        readonly id: string;
        readonly name: string;
      } | null;
      readonly device: {
        readonly id: string;
        readonly name: string;
      } | null;
      readonly from?: {
        readonly name: string;
        readonly folder: string | null;
      };
      readonly to?: {
        readonly name: string;
        readonly folder: string | null;
      };
      readonly version?: number;
      readonly share?: "public" | "link" | "upload" | "account";
    }[];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "GET /api/photos": {
    readonly photos: readonly (Schemas["Photo"] | (Schemas["FileItem"] & Schemas["Photo"]))[];
    readonly nextCursor: string | null;
    readonly isIndexing: boolean;
  };
  readonly "GET /api/photos/places": {
    readonly places: readonly {
      readonly id: string;
      readonly name: string;
      readonly region: string | null;
      readonly country: string | null;
      readonly latitude: number | null;
      readonly longitude: number | null;
      readonly count: number;
      readonly coverFileId: string;
      readonly coverUrl: string;
      readonly hasCover: boolean;
    }[];
    readonly isSettling: boolean;
  };
  readonly "GET /api/photos/timeline": {
    readonly days: readonly {
      readonly date: string;
      readonly count: number;
    }[];
    readonly total: number;
    readonly isIndexing: boolean;
    readonly isSettling: boolean;
  };
  readonly "GET /api/photos/aspects": {
    readonly days: readonly {
      readonly date: string;
      readonly aspects: readonly number[];
    }[];
    readonly nextCursor: string | null;
  };
  readonly "GET /api/photos/memories": {
    readonly memories: readonly {
      readonly date: string;
      readonly count: number;
      readonly photos: readonly Schemas["Photo"][];
    }[];
  };
  readonly "GET /api/albums": {
    readonly albums: readonly Schemas["Album"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "POST /api/albums": Schemas["Album"] & {
    readonly failed: readonly Schemas["FailedItem"][];
  };
  readonly "GET /api/albums/{id}": Schemas["Album"];
  readonly "PATCH /api/albums/{id}": Schemas["Album"];
  readonly "DELETE /api/albums/{id}": {
    readonly id: string;
    readonly name: string;
    readonly deletedAt: string;
  };
  readonly "GET /api/files/{id}/albums": {
    readonly albums: readonly Schemas["Album"][];
  };
  readonly "GET /api/albums/{id}/items": {
    readonly items: readonly (Schemas["FileItem"] & {
      readonly width: number | null;
      readonly height: number | null;
      readonly durationSeconds: number | null;
      readonly takenAt: string | null;
      readonly motion: Schemas["Motion"];
      readonly motionFileId: string | null;
    })[];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "POST /api/albums/{id}/items": {
    readonly added: number;
    readonly alreadyThere: number;
    readonly failed: readonly Schemas["FailedItem"][];
    readonly album: Schemas["Album"];
  };
  readonly "GET /api/albums/{id}/aspects": {
    readonly fileIds: readonly string[];
    readonly aspects: readonly number[];
  };
  readonly "POST /api/albums/{id}/items/move": {
    readonly album: Schemas["Album"];
  };
  readonly "POST /api/albums/{id}/items/remove": {
    readonly removed: number;
    readonly album: Schemas["Album"];
  };
  readonly "GET /api/files/recent": {
    readonly files: readonly (Schemas["FileItem"] & {
      readonly activity: "added" | "edited" | "renamed" | "moved" | "restored" | "changed" | "opened";
      readonly activityAt: string;
      readonly permission: "own" | "write" | "read";
      readonly canManage: boolean;
      readonly showsVersions: boolean;
      readonly share?: string;
    })[];
    readonly nextCursor: string | null;
  };
  readonly "POST /api/files/{id}/opened": Readonly<Record<string, unknown>>;
  readonly "GET /api/files": {
    readonly files: readonly Schemas["Item"][];
    readonly pagination: Schemas["Pagination"];
    readonly at?: string;
    readonly currentFolder: {
      readonly path: Schemas["FolderPath"];
      readonly name: string;
      readonly parent: Schemas["FolderPath"];
    };
  };
  readonly "GET /api/files/{id}": Schemas["FileInfo"];
  readonly "PUT /api/files/{id}": Schemas["UpdatedFile"];
  readonly "DELETE /api/files/{id}": Schemas["DeletedNode"];
  readonly "POST /api/files/move": {
    readonly moved: readonly Schemas["Item"][];
    readonly failed: readonly Schemas["FailedItem"][];
  };
  readonly "POST /api/files/copy": {
    readonly copied: readonly Schemas["Item"][];
    readonly failed: readonly Schemas["FailedItem"][];
  };
  readonly "POST /api/files/upload": Schemas["UploadedFile"];
  readonly "PUT /api/files/{id}/content": Schemas["UploadedFile"];
  readonly "GET /api/files/{id}/checksum": {
    readonly stored: Schemas["Checksum"];
    readonly actual: Schemas["Checksum"] | null;
    readonly ok: boolean;
  };
  readonly "POST /api/files/{id}/edit": Schemas["UploadedFile"];
  readonly "GET /api/files/{id}/editing": {
    readonly canWrite: boolean;
    readonly lock: {
      readonly program: string | null;
      readonly person: string | null;
      readonly expiresAt: string;
    } | null;
  };
  readonly "GET /api/files/{id}/archive": {
    readonly path: string;
    readonly entries: readonly Schemas["ArchiveEntry"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "POST /api/files/{id}/extract": Schemas["Extraction"];
  readonly "GET /api/files/extractions": {
    readonly extractions: readonly Schemas["Extraction"][];
  };
  readonly "GET /api/files/extractions/{id}": Schemas["Extraction"];
  readonly "DELETE /api/files/extractions/{id}": Schemas["Extraction"];
  readonly "GET /api/files/{id}/versions": {
    readonly versions: readonly {
      readonly version: number;
      readonly size: number;
      readonly checksum: Schemas["Checksum"];
      readonly mimeType: string;
      readonly createdAt: string;
      readonly createdBy: {
        readonly id: string;
        readonly name: string;
      } | null;
      readonly isCurrent: boolean;
      readonly downloadUrl: string;
    }[];
  };
  readonly "POST /api/files/{id}/versions/{version}/restore": Schemas["UploadedFile"];
  readonly "DELETE /api/files/{id}/versions/{version}": {
    readonly id: string;
    readonly version: number;
    readonly deletedAt: string;
  };
  readonly "POST /api/files/restore": {
    readonly folder: Schemas["FolderPath"];
    readonly at: string;
    readonly dryRun: boolean;
    readonly removeNew: boolean;
    readonly counts: {
      readonly content: number;
      readonly place: number;
      readonly undelete: number;
      readonly aside: number;
      readonly remove: number;
      readonly skipped: number;
      readonly new: number;
    };
    readonly changes: readonly {
      readonly id: string;
      readonly type: "file" | "folder";
      readonly name: string;
      readonly folder: Schemas["FolderPath"];
      readonly change: "content" | "place" | "undelete" | "aside" | "remove";
      readonly from?: {
        readonly name: string;
        readonly folder: Schemas["FolderPath"];
      };
      readonly formerId?: string;
      readonly version?: number;
    }[];
    readonly skipped: readonly {
      readonly id: string;
      readonly type: "file" | "folder";
      readonly name: string;
      readonly folder: Schemas["FolderPath"];
      readonly reason: "content_gone" | "folder_gone" | "inside_itself" | "too_deep" | "not_empty" | "locked";
      readonly message: string;
    }[];
    readonly new: readonly {
      readonly id: string;
      readonly type: "file" | "folder";
      readonly name: string;
      readonly folder: Schemas["FolderPath"];
    }[];
    readonly hasMore: boolean;
  };
  readonly "GET /api/favorites": {
    readonly favorites: readonly (Schemas["Item"] & {
      readonly isOwn: boolean;
      readonly permission: "own" | "write" | "read";
      readonly canManage: boolean;
      readonly showsVersions: boolean;
      readonly share?: string;
    })[];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "POST /api/favorites": {
    readonly changed: readonly string[];
    readonly failed: readonly Schemas["FailedItem"][];
  };
  readonly "GET /api/shares/received": {
    readonly shares: readonly {
      readonly id: string;
      readonly permissions: "read" | "write";
      readonly versions: boolean;
      readonly owner: {
        readonly id: string;
        readonly name: string;
        readonly email: string;
      };
      readonly createdAt: string;
      readonly expiresAt: string | null;
      readonly label: string | null;
      readonly group: {
        readonly id: string;
        readonly name: string;
      } | null;
      readonly file?: Schemas["FileItem"];
      readonly folder?: Schemas["FolderItem"];
      readonly album?: Schemas["Album"];
    }[];
  };
  readonly "DELETE /api/shares/received/{id}": Schemas["Id"];
  readonly "GET /api/public/{token}": {
    readonly name: string;
    readonly type: "file";
    readonly mimeType: string;
    readonly size: number;
    readonly modifiedAt: string;
    readonly checksum: Schemas["Checksum"] | null;
    readonly downloadUrl: string;
    readonly thumbnailUrl: string;
    readonly hasThumbnail: boolean;
    readonly permissions: "read";
    readonly expiresAt: string | null;
  } | {
    readonly name: string;
    readonly type: "folder";
    readonly permissions: "read";
    readonly expiresAt: string | null;
    readonly itemCount: number;
    readonly files: number;
    readonly folders: number;
    readonly filesUrl: string;
    readonly downloadUrl: string;
  } | {
    readonly name: string;
    readonly type: "album";
    readonly description: string;
    readonly permissions: "read";
    readonly expiresAt: string | null;
    readonly itemCount: number;
    readonly filesUrl: string;
    readonly downloadUrl: string;
  } | {
    readonly name: string;
    readonly type: "folder";
    readonly permissions: "upload";
    readonly expiresAt: string | null;
    readonly label: string | null;
    readonly maxFileSize: number | null;
    readonly uploadUrl: string;
  };
  readonly "GET /api/public/{token}/files": {
    readonly files: readonly ({
      readonly name: string;
      readonly type: "file";
      readonly mimeType: string;
      readonly size: number | null;
      readonly modifiedAt: string;
      readonly checksum: Schemas["Checksum"] | null;
      readonly downloadUrl: string;
      readonly thumbnailUrl: string;
      readonly hasThumbnail: boolean;
      readonly id: string;
      readonly folder: Schemas["FolderPath"];
    } | {
      readonly id: string;
      readonly name: string;
      readonly type: "folder";
      readonly folder: Schemas["FolderPath"];
      readonly path: Schemas["FolderPath"];
      readonly itemCount: number;
      readonly modifiedAt: string;
    })[];
    readonly pagination: {
      readonly page: number;
      readonly limit: number;
      readonly total: number;
      readonly totalPages: number;
      readonly hasNext: boolean;
      readonly hasPrev: boolean;
    };
    readonly currentFolder: {
      readonly path: Schemas["FolderPath"];
      readonly name: string;
      readonly parent: Schemas["FolderPath"];
    };
  };
  readonly "POST /api/public/{token}/unlock": {
    readonly grant: string;
    readonly expiresAt: string;
  };
  readonly "POST /api/public/{token}/upload": {
    readonly name: string;
    readonly size: number;
    readonly checksum: Schemas["Checksum"];
  };
  readonly "POST /api/files/{id}/shares": Schemas["Share"] | {
    readonly shares: readonly Schemas["Share"][];
    readonly updated: readonly string[];
  };
  readonly "GET /api/files/{id}/shares": {
    readonly shares: readonly Schemas["Share"][];
    readonly inherited: readonly ({
      readonly id: string;
      readonly name: string;
      readonly path: Schemas["FolderPath"];
    } & Schemas["ShareMark"])[];
  };
  readonly "POST /api/files/folders/{id}/shares": Schemas["Share"] | {
    readonly shares: readonly Schemas["Share"][];
    readonly updated: readonly string[];
  };
  readonly "GET /api/files/folders/{id}/shares": {
    readonly shares: readonly Schemas["Share"][];
    readonly inherited: readonly ({
      readonly id: string;
      readonly name: string;
      readonly path: Schemas["FolderPath"];
    } & Schemas["ShareMark"])[];
  };
  readonly "POST /api/albums/{id}/shares": Schemas["Share"] | {
    readonly shares: readonly Schemas["Share"][];
    readonly updated: readonly string[];
  };
  readonly "GET /api/albums/{id}/shares": {
    readonly shares: readonly Schemas["Share"][];
    readonly inherited: readonly ({
      readonly id: string;
      readonly name: string;
      readonly path: Schemas["FolderPath"];
    } & Schemas["ShareMark"])[];
  };
  readonly "GET /api/shares": {
    readonly shares: readonly Schemas["Share"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "GET /api/shares/{id}": Schemas["Share"];
  readonly "PATCH /api/shares/{id}": Schemas["Share"];
  readonly "DELETE /api/shares/{id}": {
    readonly id: string;
    readonly revokedAt: string;
  };
  readonly "GET /api/pins": Schemas["Pins"];
  readonly "PUT /api/pins/{id}": Schemas["Pins"];
  readonly "DELETE /api/pins/{id}": Schemas["Pins"];
  readonly "GET /api/users/avatars": {
    readonly people: readonly {
      readonly id: string;
      readonly version: string;
    }[];
  };
  readonly "PUT /api/users/avatar": {
    readonly avatar: {
      readonly version: string;
    } | null;
  };
  readonly "DELETE /api/users/avatar": {
    readonly avatar: {
      readonly version: string;
    } | null;
  };
  readonly "DELETE /api/admin/users/{id}/avatar": {
    readonly avatar: {
      readonly version: string;
    } | null;
  };
  readonly "POST /api/mobile/upload": Schemas["UploadedFile"];
  readonly "POST /api/mobile/upload/init": {
    readonly uploadSession: string;
    readonly files: readonly {
      readonly localId: string;
      readonly uploadId?: string;
      readonly uploadUrl?: string;
      readonly chunks?: readonly {
        readonly index: number;
        readonly start: Schemas["Bytes"];
        readonly end: number;
        readonly uploadUrl: string;
      }[];
      readonly totalChunks?: number;
      readonly chunkSize?: Schemas["Bytes"];
      readonly completedChunks?: readonly number[];
      readonly alreadyStored?: boolean;
      readonly error?: {
        readonly code: string;
        readonly message: string;
        readonly details: unknown;
      };
    }[];
    readonly expiresAt: string;
    readonly uploadOptions: {
      readonly wifiOnly: boolean;
      readonly chunkSize: Schemas["Bytes"];
      readonly maxRetries: number;
      readonly automatic: boolean;
    };
  };
  readonly "POST /api/mobile/upload/progress": Schemas["UploadProgress"];
  readonly "POST /api/mobile/upload/complete": Schemas["UploadedFile"];
  readonly "GET /api/mobile/upload/{uploadId}": Schemas["UploadProgress"];
  readonly "DELETE /api/mobile/upload/{uploadId}": Schemas["UploadProgress"];
  readonly "PUT /api/mobile/upload/{uploadId}/chunks/{index}": Schemas["Chunk"];
  readonly "PUT /api/mobile/upload/{uploadId}/content": Schemas["Chunk"];
  readonly "GET /api/tus": {
    readonly uploads: readonly Schemas["TusUpload"][];
  };
  readonly "POST /api/tus": Schemas["TusUpload"];
  readonly "GET /api/tus/{uploadId}": Schemas["TusUpload"];
  readonly "POST /api/public/{token}/tus": Schemas["GuestUpload"];
  readonly "GET /api/public/{token}/tus/{uploadId}": Schemas["GuestUpload"];
  readonly "GET /api/admin/findings": {
    readonly findings: readonly Schemas["Finding"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "POST /api/imports": Schemas["Import"];
  readonly "GET /api/imports": {
    readonly imports: readonly Schemas["Import"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "GET /api/imports/{id}": Schemas["Import"];
  readonly "GET /api/imports/{id}/problems": {
    readonly problems: readonly {
      readonly name: string;
      readonly reason: string;
      readonly message: string;
    }[];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "POST /api/imports/{id}/pause": Schemas["Import"];
  readonly "POST /api/imports/{id}/resume": Schemas["Import"];
  readonly "POST /api/imports/{id}/cancel": Schemas["Import"];
  readonly "GET /api/admin/imports": {
    readonly imports: readonly Schemas["AccountImport"][];
    readonly hasFolder: boolean;
    readonly pagination: Schemas["Pagination"];
  };
  readonly "POST /api/admin/imports": Schemas["AccountImport"];
  readonly "POST /api/admin/imports/{id}/cancel": Schemas["AccountImport"];
  readonly "POST /api/mobile/notifications/register": Schemas["PushRegistration"];
  readonly "GET /api/mobile/notifications/config": {
    readonly vapidPublicKey: string;
    readonly providers: readonly string[];
  };
  readonly "GET /api/mobile/notifications": Schemas["Inbox"];
  readonly "POST /api/mobile/notifications/read": {
    readonly read: number;
    readonly unread: number;
  };
  readonly "POST /api/mobile/push": {
    readonly notificationId: string;
    readonly deliveries: readonly {
      readonly deviceId: string;
      readonly status: "queued" | "held" | "muted" | "inbox_only";
      readonly provider: string | null;
      readonly deliverAt?: string;
    }[];
  };
  readonly "GET /api/users/notifications": Schemas["Inbox"];
  readonly "POST /api/users/notifications/read": {
    readonly read: number;
    readonly unread: number;
  };
  readonly "GET /api/users/notifications/config": {
    readonly vapidPublicKey: string;
    readonly providers: readonly string[];
    readonly isSubscribed: boolean;
    readonly preferences: Schemas["Preferences"];
  };
  readonly "POST /api/users/push-subscriptions": Schemas["PushRegistration"];
  readonly "DELETE /api/users/push-subscriptions": {
    readonly vapidPublicKey: string;
    readonly providers: readonly string[];
    readonly isSubscribed: boolean;
    readonly preferences: Schemas["Preferences"];
  };
  readonly "POST /api/webhooks": Schemas["WebhookWithSecret"];
  readonly "GET /api/webhooks": {
    readonly webhooks: readonly Schemas["Webhook"][];
  };
  readonly "GET /api/webhooks/{id}": Schemas["Webhook"];
  readonly "PATCH /api/webhooks/{id}": Schemas["Webhook"];
  readonly "DELETE /api/webhooks/{id}": Schemas["Id"];
  readonly "POST /api/webhooks/{id}/secret": Schemas["WebhookWithSecret"];
  readonly "POST /api/webhooks/{id}/test": Schemas["WebhookDelivery"];
  readonly "GET /api/webhooks/{id}/deliveries": {
    readonly deliveries: readonly Schemas["WebhookDelivery"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "GET /api/mobile/devices": {
    readonly devices: readonly Schemas["Device"][];
    readonly currentDevice: string;
  };
  readonly "PUT /api/mobile/devices/{deviceId}/settings": Schemas["DeviceSettings"];
  readonly "DELETE /api/mobile/devices/{deviceId}": Schemas["RemovedDevice"];
  readonly "GET /api/users/devices": {
    readonly devices: readonly Schemas["Device"][];
  };
  readonly "DELETE /api/users/devices/{deviceId}": Schemas["RemovedDevice"];
  readonly "GET /api/mobile/sync/status": {
    readonly lastSyncAt: string | null;
    readonly hasChanges: boolean;
    readonly changes: {
      readonly created: readonly Schemas["ChangedFile"][];
      readonly updated: readonly Schemas["ChangedFile"][];
      readonly deleted: readonly {
        readonly id: string;
        readonly deletedAt: string;
      }[];
    };
    readonly conflicts: readonly Schemas["Conflict"][];
    readonly nextSyncToken: string;
    readonly hasMore: boolean;
    readonly resetRequired: boolean;
  };
  readonly "POST /api/mobile/sync/files": {
    readonly results: readonly {
      readonly localId: string;
      readonly status: "applied" | "upload_required" | "already_stored" | "conflict" | "rejected";
      readonly fileId?: string;
      readonly conflictId?: string;
      readonly error?: Schemas["ItemError"];
    }[];
    readonly conflicts: readonly Schemas["Conflict"][];
    readonly nextSyncToken: string;
  };
  readonly "GET /api/users/conflicts": {
    readonly conflicts: readonly Schemas["Conflict"][];
  };
  readonly "POST /api/users/conflicts/{conflictId}": {
    readonly conflictId: string;
    readonly status: "resolved" | "upload_required";
    readonly fileId?: string;
  };
  readonly "POST /api/mobile/conflicts/resolve": {
    readonly results: readonly {
      readonly conflictId: string;
      readonly status: "resolved" | "upload_required" | "rejected";
      readonly fileId?: string;
      readonly error?: Schemas["ItemError"];
    }[];
    readonly conflicts: readonly Schemas["Conflict"][];
  };
  readonly "GET /api/mobile/devices/{deviceId}/holds": Schemas["Holds"];
  readonly "POST /api/mobile/devices/{deviceId}/holds/{holdId}": Schemas["HoldDecision"];
  readonly "GET /api/users/holds": Schemas["Holds"];
  readonly "POST /api/users/holds/{holdId}": Schemas["HoldDecision"];
  readonly "POST /api/mobile/devices/{deviceId}/rewind": Schemas["Rewind"];
  readonly "POST /api/users/devices/{deviceId}/rewind": Schemas["Rewind"];
  readonly "POST /api/mobile/queue/add": {
    readonly results: readonly {
      readonly id: string;
      readonly status: "queued" | "running" | "completed" | "failed";
      readonly error?: Schemas["ItemError"];
    }[];
  };
  readonly "GET /api/mobile/queue": {
    readonly operations: readonly {
      readonly id: string;
      readonly type: "upload" | "delete";
      readonly priority: "high" | "normal" | "low";
      readonly status: "queued" | "running" | "completed" | "failed";
      readonly attempts: number;
      readonly error?: Schemas["ItemError"];
      readonly createdAt: string;
      readonly finishedAt: string | null;
    }[];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "GET /api/mobile/files/{id}/durability": Schemas["Durability"];
  readonly "POST /api/mobile/files/durability": {
    readonly files: readonly (Schemas["Durability"] | {
      readonly fileId: string;
      readonly stored: false;
      readonly error: Schemas["ItemError"];
    })[];
  };
  readonly "GET /api/users/locks": {
    readonly locks: readonly {
      readonly id: string;
      readonly fileId?: string;
      readonly folderId?: string;
      readonly name: string;
      readonly path: string;
      readonly program: string | null;
      readonly createdAt: string;
      readonly expiresAt: string;
    }[];
  };
  readonly "DELETE /api/users/locks/{id}": Schemas["Id"];
  readonly "GET /api/users/login-flows/{token}": {
    readonly program: string;
    readonly address: string;
    readonly createdAt: string;
    readonly expiresAt: string;
  };
  readonly "POST /api/users/login-flows/{token}": {
    readonly redirect: string | null;
  };
  readonly "DELETE /api/users/login-flows/{token}": Readonly<Record<string, unknown>>;
  readonly "GET /api/admin/users": {
    readonly users: readonly Schemas["Account"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "POST /api/admin/users": Schemas["Account"] & {
    readonly passwordLink?: {
      readonly url: string;
      readonly expiresAt: string;
    };
  };
  readonly "GET /api/admin/users/{id}": Schemas["Account"];
  readonly "PATCH /api/admin/users/{id}": Schemas["Account"];
  readonly "DELETE /api/admin/users/{id}": Schemas["Id"];
  readonly "GET /api/admin/users/{id}/usage": Schemas["Usage"];
  readonly "POST /api/admin/users/{id}/reset-link": {
    readonly url: string;
    readonly expiresAt: string;
  };
  readonly "GET /api/admin/users/{id}/sessions": {
    readonly sessions: readonly Schemas["Session"][];
  };
  readonly "DELETE /api/admin/users/{id}/sessions": Schemas["Id"];
  readonly "DELETE /api/admin/users/{id}/sessions/{sessionId}": Schemas["Id"];
  readonly "GET /api/admin/users/{id}/devices": {
    readonly devices: readonly Schemas["DeviceFacts"][];
  };
  readonly "DELETE /api/admin/users/{id}/devices/{deviceId}": Schemas["RemovedDevice"];
  readonly "GET /api/admin/users/{id}/app-passwords": Schemas["AppPasswords"];
  readonly "DELETE /api/admin/users/{id}/app-passwords/{appPasswordId}": Schemas["Id"];
  readonly "DELETE /api/admin/users/{id}/two-factor": Schemas["Id"];
  readonly "GET /api/admin/stats": {
    readonly users: {
      readonly total: number;
      readonly active: number;
      readonly disabled: number;
      readonly byPlan: Readonly<Record<string, number>>;
      readonly byRole: Readonly<Record<string, number>>;
    };
    readonly storage: {
      readonly usedBytes: number;
      readonly files: number;
      readonly folders: number;
      readonly versionsBytes: number;
      readonly trashBytes: number;
      readonly blobs: number;
      readonly blobBytes: number;
      readonly diskFreeBytes: number;
      readonly diskTotalBytes: number;
    };
    readonly transfers: {
      readonly period: string;
      readonly uploads: number;
      readonly uploadedBytes: number;
      readonly downloads: number;
      readonly downloadedBytes: number;
    };
    readonly uploadsUnderWay: number;
    readonly queues: Readonly<Record<string, number>>;
    readonly requests: {
      readonly period: string;
      readonly accepted: number;
      readonly refused: number;
    };
    readonly integrity: {
      readonly openFindings: Readonly<Record<string, number>>;
      readonly oldestReadingAt: string | null;
      readonly readWithinDays: number | null;
      readonly scrubWithinDays: number;
    };
    readonly jobs: readonly Schemas["Job"][];
    readonly version: string;
    readonly startedAt: string;
    readonly uptimeSeconds: number;
  };
  readonly "GET /api/admin/plans": {
    readonly plans: readonly Schemas["Plan"][];
  };
  readonly "GET /api/admin/jobs": {
    readonly jobs: readonly Schemas["Job"][];
  };
  readonly "POST /api/admin/jobs/{name}/run": Schemas["Job"];
  readonly "GET /api/admin/health": {
    readonly status: "ok" | "warning" | "error";
    readonly problems: readonly {
      readonly severity: "warning" | "error";
      readonly about: "readiness" | "disk" | "database" | "findings" | "bucket" | "replica" | "jobs" | "certificate";
      readonly message: string;
    }[];
    readonly isReady: boolean;
    readonly notReadyReason: string | null;
    readonly disk: {
      readonly freeBytes: number;
      readonly totalBytes: number;
    };
    readonly database: {
      readonly bytes: number;
      readonly logBytes: number;
      readonly fault: string | null;
    };
    readonly snapshots: {
      readonly count: number;
      readonly lastAt: string | null;
      readonly lastBytes: number | null;
    };
    readonly openFindings: number;
    readonly bucket: {
      readonly isUp: boolean;
      readonly problem: string | null;
      readonly since: string | null;
      readonly waiting: number;
    } | null;
    readonly failedJobs: readonly {
      readonly name: string;
      readonly lastError: string;
      readonly lastFinishedAt: string | null;
    }[];
    readonly queues: Readonly<Record<string, number>>;
    readonly certificateEndsAt: string | null;
    readonly versions: {
      readonly larder: string;
      readonly commit: string;
      readonly bun: string;
      readonly sqlite: string;
    };
    readonly memoryBytes: number;
    readonly startedAt: string;
    readonly uptimeSeconds: number;
  };
  readonly "GET /api/admin/config": {
    readonly file: string | null;
    readonly settings: readonly {
      readonly key: string;
      readonly value: string;
      readonly default: string;
      readonly isDefault: boolean;
      readonly isSecret: boolean;
      readonly source: string;
      readonly environment: string;
      readonly accepts: string;
      readonly help: string;
    }[];
  };
  readonly "GET /api/admin/stats/storage": {
    readonly people: readonly {
      readonly id: string;
      readonly name: string;
      readonly email: string;
      readonly filesBytes: number;
      readonly versionsBytes: number;
      readonly trashBytes: number;
    }[];
    readonly others: {
      readonly accounts: number;
      readonly bytes: number;
    };
    readonly kinds: readonly {
      readonly kind: "photos" | "videos" | "audio" | "documents" | "archives" | "other";
      readonly files: number;
      readonly bytes: number;
    }[];
    readonly texts: {
      readonly isFilling: boolean;
      readonly indexed: number;
      readonly waiting: number;
      readonly unread: readonly {
        readonly reason: string;
        readonly count: number;
      }[];
      readonly textBytes: number;
      readonly indexBytes: number;
      readonly fileBytes: number;
    };
  };
  readonly "GET /api/admin/stats/history": {
    readonly days: readonly {
      readonly date: string;
      readonly sampledAt: string;
      readonly users: number;
      readonly activeUsers: number;
      readonly files: number;
      readonly folders: number;
      readonly usedBytes: number;
      readonly versionsBytes: number;
      readonly trashBytes: number;
      readonly contents: number;
      readonly storedBytes: number;
      readonly diskFreeBytes: number;
      readonly diskTotalBytes: number;
      readonly uploads: number | null;
      readonly uploadedBytes: number | null;
      readonly downloads: number | null;
      readonly downloadedBytes: number | null;
    }[];
  };
  readonly "GET /api/admin/audit": {
    readonly entries: readonly Schemas["AuditEntry"][];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "GET /api/users/activity": {
    readonly activity: readonly {
      readonly id: string;
      readonly at: string;
      readonly action: string;
      readonly outcome: "done" | "refused" | "failed";
      readonly reason: string | null;
      readonly target: {
        readonly type: string;
        readonly id: string | null;
      } | null;
      readonly clientAddress: string | null;
      readonly userAgent: string | null;
      readonly times: number;
      readonly by: "you" | "administrator" | "guest" | "unknown";
      readonly via: {
        readonly kind: "web" | "mobile" | "key" | "app" | "cli" | "system" | "none";
        readonly name: string | null;
      };
    }[];
    readonly pagination: Schemas["Pagination"];
  };
  readonly "GET /api/admin/settings": Schemas["ServerSettings"];
  readonly "PATCH /api/admin/settings": Schemas["ServerSettings"];
  readonly "POST /api/admin/settings/mail/test": {
    readonly to: string;
    readonly result: "sent" | "rejected" | "unreachable";
  };
}
