import type { PlanName, Role } from "../../accounts/users/types.ts";

/** By what the list of accounts can be sorted. */
export const ACCOUNT_SORTS = ["email", "name", "createdAt", "lastActiveAt", "used"] as const;

/** One of {@link ACCOUNT_SORTS}. */
export type AccountSort = (typeof ACCOUNT_SORTS)[number];

/** Which accounts are wanted; absent fields ask for nothing. */
export interface AccountFilter {
  /** Part of the email or of the name. */
  readonly search?: string | undefined;
  readonly role?: Role | undefined;
  readonly plan?: PlanName | undefined;
  readonly isDisabled?: boolean | undefined;
}

/** A page of the list of accounts. */
export interface AccountQuery extends AccountFilter {
  readonly sort: AccountSort;
  readonly order: "asc" | "desc";
  readonly offset: number;
  readonly limit: number;
}

/** An account as administrators see it: never its files. */
export interface AccountRow {
  readonly id: number;
  readonly publicId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly plan: PlanName;
  /** As stored: null for the plan's, negative for none. */
  readonly quotaBytes: number | null;
  readonly disabledAt: number | null;
  readonly emailUnconfirmedSince: number | null;
  readonly createdAt: number;
  readonly lastActiveAt: number | null;
  /** All that counts against the quota. */
  readonly usedBytes: number;
  readonly files: number;
  readonly folders: number;
  readonly devices: number;
}

/** What all accounts together are. Nothing of an erased one. */
export interface AccountTotals {
  readonly total: number;
  /** Enabled, and seen within thirty days. */
  readonly active: number;
  readonly disabled: number;
  readonly byPlan: Readonly<Record<PlanName, number>>;
  readonly byRole: Readonly<Record<Role, number>>;
}

/** What all accounts hold together, and what that is in the store, where equal contents lie once. */
export interface StorageTotals {
  readonly usedBytes: number;
  readonly files: number;
  readonly folders: number;
  readonly versionsBytes: number;
  readonly trashBytes: number;
  readonly blobs: number;
  readonly blobBytes: number;
}

/** Transfers of all accounts in the present month. */
export interface TransferTotals {
  readonly period: string;
  readonly uploads: number;
  readonly uploadedBytes: number;
  readonly downloads: number;
  readonly downloadedBytes: number;
}

/** What is counted in the database. */
export interface Counted {
  readonly users: AccountTotals;
  readonly storage: StorageTotals;
  readonly transfers: TransferTotals;
  readonly uploadsUnderWay: number;
  /** Messages and the like that wait to leave, by where they wait. */
  readonly queues: Readonly<Record<string, number>>;
  /** Requests of the last hour. */
  readonly requests: { readonly accepted: number; readonly refused: number };
}

/** What the server held at one moment of a day. */
export interface DailySample {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly sampledAtMs: number;
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
  /** Transfers since the month began. */
  readonly uploads: number;
  readonly uploadedBytes: number;
  readonly downloads: number;
  readonly downloadedBytes: number;
}

/** How the server stands, for GET /api/admin/health. */
export interface ServerHealth {
  /** Why no requests can be taken, in words. */
  readonly notReady: string | undefined;
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number };
  readonly database: { readonly bytes: number; readonly logBytes: number; readonly fault: string | undefined };
  readonly snapshots: { readonly count: number; readonly lastAtMs: number | null; readonly lastBytes: number | null };
  readonly certificateEndsAtMs: number | undefined;
  /** Contents that are known to be damaged or missing. */
  readonly openFindings: number;
  /** Undefined where none is set up. `waiting`: contents that lie on this disk alone. */
  readonly bucket:
    | { readonly outage: { readonly problem: string; readonly sinceMs: number } | undefined; readonly waiting: number }
    | undefined;
  readonly versions: Readonly<Record<"larder" | "commit" | "bun" | "sqlite", string>>;
  readonly memoryBytes: number;
}

/** What an administrator should look at. */
export interface HealthProblem {
  readonly severity: "warning" | "error";
  readonly about: "readiness" | "disk" | "database" | "findings" | "bucket" | "jobs" | "certificate";
  readonly message: string;
}
