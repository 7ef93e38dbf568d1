import type { Message } from "../../../translations/say.ts";
import type { PlanName, Role } from "../../accounts/users/types.ts";

/** The fields by which the list of accounts can be sorted. */
export const ACCOUNT_SORTS = ["email", "name", "createdAt", "lastActiveAt", "used"] as const;

/** One of {@link ACCOUNT_SORTS}. */
export type AccountSort = (typeof ACCOUNT_SORTS)[number];

/** The filter of the list of accounts; absent fields match all. */
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
  /** As stored: null for the quota of the plan, negative for none. */
  readonly quotaBytes: number | null;
  readonly disabledAt: number | null;
  readonly emailUnconfirmedSince: number | null;
  readonly createdAt: number;
  readonly lastActiveAt: number | null;
  /** Everything that counts towards the quota. */
  readonly usedBytes: number;
  readonly files: number;
  readonly folders: number;
  readonly devices: number;
}

/** Figures of all accounts, without deleted ones. */
export interface AccountTotals {
  readonly total: number;
  /** Enabled, and seen within thirty days. */
  readonly active: number;
  readonly disabled: number;
  readonly byPlan: Readonly<Record<PlanName, number>>;
  readonly byRole: Readonly<Record<Role, number>>;
}

/** The stored bytes of all accounts, and their size in the store, where equal contents are stored once. */
interface StorageTotals {
  readonly usedBytes: number;
  readonly files: number;
  readonly folders: number;
  readonly versionsBytes: number;
  readonly trashBytes: number;
  readonly blobs: number;
  readonly blobBytes: number;
}

/** Transfers of all accounts in the current month. */
interface TransferTotals {
  readonly period: string;
  readonly uploads: number;
  readonly uploadedBytes: number;
  readonly downloads: number;
  readonly downloadedBytes: number;
}

/** Figures that are counted in the database. */
export interface ServerCounts {
  readonly users: AccountTotals;
  readonly storage: StorageTotals;
  readonly transfers: TransferTotals;
  readonly uploadsUnderWay: number;
  /** Queued messages, by queue. */
  readonly queues: Readonly<Record<string, number>>;
  /** Requests of the last hour. */
  readonly requests: { readonly accepted: number; readonly refused: number };
}

/** The figures of the server at one moment of a day. */
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
  /** Transfers since the beginning of the month. */
  readonly uploads: number;
  readonly uploadedBytes: number;
  readonly downloads: number;
  readonly downloadedBytes: number;
}

/** The state of the server, for GET /api/admin/health. */
export interface ServerHealth {
  /** Why the server is not ready, as text; undefined if it is. */
  readonly notReady: string | undefined;
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number };
  readonly database: { readonly bytes: number; readonly logBytes: number; readonly fault: string | undefined };
  readonly snapshots: { readonly count: number; readonly lastAtMs: number | null; readonly lastBytes: number | null };
  readonly certificateEndsAtMs: number | undefined;
  /** Blobs that are known to be damaged or missing. */
  readonly openFindings: number;
  /** Undefined if none is configured. `waiting`: blobs that are stored only on this disk. */
  readonly bucket:
    | { readonly outage: { readonly problem: string; readonly sinceMs: number } | undefined; readonly waiting: number }
    | undefined;
  /** Why the replica of the database does not work or is late. */
  readonly replicaProblem: string | undefined;
  readonly versions: Readonly<Record<"larder" | "commit" | "bun" | "sqlite", string>>;
  readonly memoryBytes: number;
}

/** A problem that needs an administrator's attention. */
export interface HealthProblem {
  readonly severity: "warning" | "error";
  readonly about: "readiness" | "disk" | "database" | "findings" | "bucket" | "replica" | "jobs" | "certificate";
  readonly message: Message;
}
