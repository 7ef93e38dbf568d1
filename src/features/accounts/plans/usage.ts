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
  /** Reserved for uploads in progress. */
  readonly reservedBytes?: number;
}

/** Files of one media type in an account. */
export interface TypeTotals {
  readonly type: string;
  readonly files: number;
  readonly bytes: number;
}

/** The input of {@link accountUsage}. */
interface UsageInput {
  readonly totals: AccountTotals;
  readonly byType: readonly TypeTotals[];
  readonly transfers: Transfers;
  /** Devices registered now. */
  readonly devices: number;
  readonly plan: Plan;
  /** The account's own quota in bytes: null for none, undefined for the quota of the plan. */
  readonly quotaBytes: number | null | undefined;
}

/** The data of GET /api/users/usage. Sizes are in bytes; null in `quota`, `remaining` and `limit` means no limit. */
interface AccountUsage {
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
 * An account's usage. `used` is everything that counts towards the quota: files, earlier versions, trash, uploads in
 * progress. `files` and `folders` are numbers of items, `versions` and `trash` bytes. The largest types come first.
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
 * `part` of `whole` in percent with two decimals: 0 if there is no limit (null), above 100 if a limit was lowered below
 * the usage. With a limit of zero: 100 as soon as anything is used.
 */
export function percentageOf(part: number, whole: number | null): number {
  if (whole === null || part === 0) return 0;
  return whole === 0 ? 100 : Math.round((part / whole) * 10_000) / 100;
}
