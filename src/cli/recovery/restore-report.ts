import { describeSize } from "../../config/quantities.ts";
import type { BackupSummary } from "../../features/storage/backup/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import type { DataPaths } from "../../server/data/data-directory.ts";
import type { Reduced } from "../../server/one-account.ts";
import type { Restored } from "../../server/data/restoring.ts";
import { SECRET_LOSSES, type SecretName } from "../../config/secrets.ts";
import { EXIT, type ExitCode } from "../shared/command.ts";
import { describeLost } from "../shared/lost-contents.ts";
import { type Terminal, toJson } from "../shared/output.ts";

/** Everything that a restore prints. */
export interface Outcome {
  readonly restored: Restored;
  readonly paths: DataPaths;
  /** Of the copying, where there was a source. */
  readonly summary?: BackupSummary;
  readonly reduced?: Reduced | undefined;
  /** Where the server's keys came from, and which are new; where the directory was made from a bucket. */
  readonly secrets?: { readonly from: string | null; readonly new: readonly SecretName[] };
  /** The bucket with the contents, and whether it belongs to this directory now. */
  readonly bucket?: { readonly name: string; readonly claimed: boolean };
}

/** Prints the result of a restore. @returns the exit code */
export function reportRestored(outcome: Outcome, isJson: boolean, terminal: Terminal): ExitCode {
  const { restored, summary } = outcome;
  for (const warning of summary?.warnings ?? []) terminal.error(`Warning: ${warning}\n`);
  terminal.out(isJson ? toJson(present(outcome)) : describe(outcome));
  const { count, some } = restored.missing;
  if (count === 0) return EXIT.fine;
  // Where contents were copied, the reason of each loss is known.
  const lost = summary?.tally.lost ?? [];
  if (!isJson) terminal.error(describeLost(lost.length > 0 ? lost : some, count));
  return EXIT.wrong;
}

function present({ restored, paths, summary, reduced, secrets, bucket }: Outcome) {
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
    lost: (summary?.tally.lost ?? missing.some).map(({ digest, why, names }) => ({
      checksum: `sha256:${digest}`,
      why,
      names,
    })),
    contents: summary?.tally.contents ?? null,
    givenUp: restored.givenUp ?? null,
    signedOut: restored.signedOut,
    keptAs: restored.keptAs ?? null,
    setAside: restored.aside ?? null,
    hasNewer: restored.hasNewer,
    ...(secrets !== undefined && { secrets, bucket: bucket ?? null }),
    onlyUser: reduced === undefined ? null : { email: reduced.email, erased: reduced.erased, shares: reduced.shares },
  };
}

function describe({ restored, paths, reduced, secrets, bucket }: Outcome): string {
  const { counts, givenUp, signedOut, keptAs, aside } = restored;
  const lines = [`Restored from ${restored.snapshot} in ${paths.root}.`];
  if (counts !== undefined) {
    const last = counts.lastChangeMs === undefined ? "" : `; last change ${toTimestamp(counts.lastChangeMs)}`;
    lines.push(
      `It holds ${counts.users} users, ${counts.files} files, ${counts.folders} folders, ${describeSize(counts.bytes)}${last}.`,
    );
  }
  lines.push(
    restored.missing.count === 0 ? "No content is missing." : `${restored.missing.count} contents are missing.`,
  );
  if (reduced !== undefined) {
    lines.push(
      `Only the account ${reduced.email} was restored, as an administrator; ${reduced.erased} others were left out. ` +
        `Shares with them ended: ${reduced.shares.given} given, ${reduced.shares.received} received.`,
    );
  }
  if (givenUp !== undefined && givenUp.mails + givenUp.pushes + givenUp.webhooks > 0) {
    const { mails, pushes, webhooks } = givenUp;
    lines.push(`Not sent again: ${mails} mails, ${pushes} pushes, ${webhooks} webhook deliveries.`);
  }
  if (signedOut > 0) lines.push(`${signedOut} sessions and refresh tokens were ended.`);
  if (keptAs !== undefined) lines.push(`The previous state is saved as the snapshot ${keptAs}.`);
  if (aside !== undefined) lines.push(`The previous database was moved to ${aside}. Remove it when everything works.`);
  if (restored.hasNewer) {
    lines.push(`To apply later changes to files and versions: larder rebuild --newer --data ${paths.root}`);
  }
  if (secrets !== undefined) lines.push(...describeSecrets(secrets));
  if (bucket !== undefined) lines.push(...describeBucket(bucket, paths));
  lines.push(`Now: larder serve --data ${paths.root}`);
  if (process.getuid?.() === 0) lines.push(`(To run it as another user, first: chown -R USER: ${paths.root})`);
  return `${lines.join("\n")}\n`;
}

function describeSecrets({ from, new: missing }: NonNullable<Outcome["secrets"]>): string[] {
  const lines = from === null ? [] : [`The server's keys were copied from ${from}.`];
  if (missing.length === 0) return lines;
  return [
    ...lines,
    "Keys are missing. The server will make new ones at its start:",
    ...missing.map((name) => `  ${name}.json: ${SECRET_LOSSES[name]}`),
  ];
}

function describeBucket({ name, claimed }: NonNullable<Outcome["bucket"]>, { root }: DataPaths): string[] {
  return [
    claimed
      ? `The bucket "${name}" belongs to this directory now. Do not start the old server again.`
      : `The bucket "${name}" still belongs to the old server, so this one removes nothing there. Once the old one is gone: ` +
        `larder blobs claim --data ${root}`,
    "Start with the same settings s3.* and blobs.store. To check every byte in the bucket: larder verify --bucket",
  ];
}
