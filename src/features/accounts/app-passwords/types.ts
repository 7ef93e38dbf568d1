/** An app password, as its owner sees it. The password itself is shown once, when it is created. */
export interface AppPassword {
  /** Row id. */
  readonly id: number;
  readonly publicId: string;
  /** Row id of its hidden device. */
  readonly deviceId: number;
  readonly name: string;
  readonly canWrite: boolean;
  /** Row id of the only folder that it opens, which may be gone; null for the whole tree. */
  readonly folderId: number | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly lastUsedAtMs: number | null;
  /** The client address of the last use. */
  readonly lastAddress: string | null;
  /** The User-Agent of the program that used it last. */
  readonly lastClient: string | null;
}

/** Settings of a new app password. */
export interface NewAppPassword {
  /** Its public id, if that was named before; by default a new one. */
  readonly publicId?: string | undefined;
  readonly name: string;
  /** By default as much as the account may do. */
  readonly access?: "read" | "write" | undefined;
  /** Path of the only folder that it opens; by default it opens the whole tree. */
  readonly folder?: string | undefined;
  /** Does not expire if absent or null. */
  readonly expiresAtMs?: number | null | undefined;
}
