import type { BackupSummary } from "../../features/storage/backup/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import type { DataPaths } from "../../server/data/data-directory.ts";
import type { ReducedDatabase } from "../../server/one-account.ts";
import type { RestoredDatabase } from "../../server/data/restoring.ts";
import { SECRET_LOSSES, type SecretName } from "../../config/secrets.ts";
import { EXIT, type ExitCode, type RunningCommand } from "../shared/command.ts";
import { describeCounts, describeLost } from "../shared/lost-blobs.ts";
import { count } from "../shared/output.ts";

/** The result of a restore. */
export interface RestoreResult {
  readonly restored: RestoredDatabase;
  readonly paths: DataPaths;
  /** The result of copying the blobs; undefined without a source. */
  readonly summary?: BackupSummary;
  readonly reduced?: ReducedDatabase | undefined;
  /** The origin of the server's keys, and which are new; only for a restore from a bucket. */
  readonly secrets?: { readonly from: string | null; readonly new: readonly SecretName[] };
  /** The bucket with the blobs, and whether this directory owns it now. */
  readonly bucket?: { readonly name: string; readonly claimed: boolean };
}

/** Prints the result of a restore. @returns the exit code */
export function reportRestored(result: RestoreResult, command: RunningCommand): ExitCode {
  const { isJson, terminal } = command;
  const { missing } = result.restored;
  for (const warning of result.summary?.warnings ?? []) terminal.error(`Warning: ${warning}\n`);
  command.print(present(result), describe(result));
  if (missing.count === 0) return EXIT.success;
  // The copy of the blobs recorded the reason of each loss.
  const lost = result.summary?.totals.lost ?? [];
  if (!isJson) terminal.error(describeLost(lost.length > 0 ? lost : missing.some, missing.count));
  return EXIT.problems;
}

function present({ restored, paths, summary, reduced, secrets, bucket }: RestoreResult) {
  const { counts, missing } = restored;
  return {
    ok: missing.count === 0,
    data: paths.root,
    snapshot: restored.snapshot,
    users: counts?.users ?? null,
    files: counts?.files ?? null,
    folders: counts?.folders ?? null,
    bytes: counts?.bytes ?? null,
    lastChange: counts?.lastChangeMs === undefined ? null : toTimestamp(counts.lastChangeMs),
    missing: missing.count,
    lost: (summary?.totals.lost ?? missing.some).map(({ digest, why, names }) => ({
      checksum: `sha256:${digest}`,
      why,
      names,
    })),
    contents: summary?.totals.contents ?? null,
    givenUp: restored.droppedMessages ?? null,
    signedOut: restored.ended.logins,
    endedLinks: restored.ended.links,
    keptAs: restored.formerSnapshot ?? null,
    setAside: restored.aside ?? null,
    hasNewer: restored.hasNewer,
    ...(secrets !== undefined && { secrets, bucket: bucket ?? null }),
    onlyUser: reduced === undefined ? null : { email: reduced.email, erased: reduced.erased, shares: reduced.shares },
  };
}

function describe({ restored, paths, reduced, secrets, bucket }: RestoreResult): string {
  const { counts, droppedMessages, ended, formerSnapshot, aside } = restored;
  const lines = [`Restored from ${restored.snapshot} in ${paths.root}.`];
  if (counts !== undefined) {
    const last = counts.lastChangeMs === undefined ? "" : `; last change ${toTimestamp(counts.lastChangeMs)}`;
    lines.push(`It has ${describeCounts(counts)}${last}.`);
  }
  lines.push(
    restored.missing.count === 0 ? "No blobs are missing." : `Missing: ${count(restored.missing.count, "blob")}.`,
  );
  if (reduced !== undefined) {
    lines.push(
      `Restored only the account ${reduced.email}, as an administrator; left out ${reduced.erased} others. ` +
        `Removed shares with them: ${reduced.shares.given} given, ${reduced.shares.received} received.`,
    );
  }
  if (droppedMessages !== undefined && droppedMessages.mails + droppedMessages.pushes + droppedMessages.webhooks > 0) {
    const { mails, pushes, webhooks } = droppedMessages;
    lines.push(`Not sent again: ${mails} emails, ${pushes} push notifications, ${webhooks} webhook deliveries.`);
  }
  if (ended.logins > 0) lines.push(`Ended ${ended.logins} sessions, refresh tokens, API keys, and app passwords.`);
  if (ended.links > 0) lines.push(`Ended ${ended.links} invitations, and links for passwords and addresses.`);
  if (formerSnapshot !== undefined) lines.push(`Saved the previous state as snapshot ${formerSnapshot}.`);
  if (aside !== undefined) lines.push(`Moved the previous database to ${aside}. Remove it when everything works.`);
  if (restored.hasNewer) {
    lines.push(`To apply the changes recorded after this snapshot: larder rebuild --newer --data ${paths.root}`);
  }
  if (secrets !== undefined) lines.push(...describeSecrets(secrets));
  if (bucket !== undefined) lines.push(...describeBucket(bucket, paths));
  lines.push(`Next: larder serve --data ${paths.root}`);
  if (process.getuid?.() === 0)
    lines.push(`To run the server as another user, first run: chown -R USER: ${paths.root}`);
  return `${lines.join("\n")}\n`;
}

function describeSecrets({ from, new: missing }: NonNullable<RestoreResult["secrets"]>): string[] {
  const lines = from === null ? [] : [`Copied the server's keys from ${from}.`];
  if (missing.length === 0) return lines;
  return [
    ...lines,
    "Some keys are missing. The server creates new ones when it starts:",
    ...missing.map((name) => `  ${name}.json: ${SECRET_LOSSES[name]}`),
  ];
}

function describeBucket({ name, claimed }: NonNullable<RestoreResult["bucket"]>, { root }: DataPaths): string[] {
  return [
    claimed
      ? `This data directory now owns the bucket "${name}". Do not start the old server again.`
      : `The old server still owns the bucket "${name}", so this one removes nothing from it. When the old one is gone: ` +
        `larder blobs claim --data ${root}`,
    "Start the server with the same settings s3.* and blobs.store. To check all bytes in the bucket: larder verify --bucket",
  ];
}
