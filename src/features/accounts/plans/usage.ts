import type { Plan } from "./plans.ts";
import type { Transfers } from "./transfers.ts";

/** The stored bytes of an account, from its row in `accounts`. */
export interface AccountTotals {
  readonly files: number;
  readonly folders: number;
  readonly fileBytes: number;
  /** Bytes of earlier versions. */
  readonly versionBytes: number;
  readonly trashBytes: number;
  /** Promised to uploads that are in progress. */
  readonly reservedBytes?: number;
}

/** Files of one media type in an account. */
export interface TypeTotals {
  readonly type: string;
  readonly files: number;
  readonly bytes: number;
}

/** Everything that {@link accountUsage} puts together. */
export interface UsageInput {
  readonly totals: AccountTotals;
  readonly byType: readonly TypeTotals[];
  readonly transfers: Transfers;
  /** Devices registered now. */
  readonly devices: number;
  readonly plan: Plan;
  /** The account's own quota in bytes: null for none, undefined for the plan's. */
  readonly quotaBytes: number | null | undefined;
}

/** The data of GET /api/users/usage. Sizes in bytes; `quota`, `remaining` and a `limit` of null: none. */
export interface AccountUsage {
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
  readonly byType: TypeTotals[];
  readonly transfers: Transfers;
  readonly devices: { readonly count: number; readonly limit: number | null };
  readonly plan: { readonly name: string; readonly maxFileSize: number; readonly maxNodes: number | null };
}

/**
 * An account's usage. `used` is all that counts against the quota: files, earlier versions, trash, uploads in progress;
 * `files` and `folders` are numbers of entries, `versions` and `trash` bytes. Types come largest first.
 */
export function accountUsage(input: UsageInput): AccountUsage {
  const { totals, byType, transfers, devices, plan } = input;
  const used = totals.fileBytes + totals.versionBytes + totals.trashBytes + (totals.reservedBytes ?? 0);
  const quota = input.quotaBytes === undefined ? plan.quotaBytes : input.quotaBytes;
  return {
    storage: {
      used,
      quota,
      remaining: quota === null ? null : Math.max(0, quota - used),
      percentage: percentageOf(used, quota),
      files: totals.files,
      folders: totals.folders,
      versions: totals.versionBytes,
      trash: totals.trashBytes,
    },
    byType: byType
      .filter((type) => type.files > 0)
      .sort((a, b) => b.bytes - a.bytes || (a.type < b.type ? -1 : 1))
      .map(({ type, files, bytes }) => ({ type, files, bytes })),
    transfers,
    devices: { count: devices, limit: plan.devices },
    plan: { name: plan.name, maxFileSize: plan.maxFileSizeBytes, maxNodes: plan.maxNodes },
  };
}

/**
 * `part` of `whole` in percent with two decimals: 0 where there is no limit (null), above 100 where a limit was
 * lowered below what is used; of a limit of nothing, 100 as soon as anything is used.
 */
export function percentageOf(part: number, whole: number | null): number {
  if (whole === null || part === 0) return 0;
  return whole === 0 ? 100 : Math.round((part / whole) * 10_000) / 100;
}
