import type { Scope } from "../auth/scopes.ts";

/** A key for scripts, as its owner sees it. The key itself is shown once, when it is created. */
export interface ApiKey {
  readonly publicId: string;
  readonly name: string;
  /** The first characters of the key. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly lastUsedAtMs: number | null;
}

/** Settings of a new key. */
export interface NewApiKey {
  readonly name: string;
  /** The default scopes if absent. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Does not expire if absent or null. */
  readonly expiresAtMs?: number | null | undefined;
}
