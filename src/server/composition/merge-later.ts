/**
 * Applies the store journal of a copied data directory to the snapshot that it starts from. Runs before the server
 * listens. After a crash, the next start continues.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Layout } from "../../blobs/layout.ts";
import { PasswordHasher } from "../../features/accounts/users/passwords.ts";
import { mergeNewer, type MergeReport, newerWorkingFile } from "../../features/storage/store-journal/merge-newer.ts";
import { journalRoot } from "../../features/storage/store-journal/open.ts";
import { type CopyStart, forgetCopyStart } from "../../features/storage/store-journal/opened-copy.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { newSecretToken } from "../../lib/id.ts";
import type { Log } from "../../lib/log.ts";
import { readEpoch, readRestoredAt } from "../data/open-copy.ts";
import type { Services } from "./services.ts";

/** How many missing files are logged. */
const NAMED_MAX = 20;

/** Merges the journal of a copy, once. */
export async function mergeLater(services: Services, copyStart: CopyStart): Promise<void> {
  const { sqlite, log, paths, writer, storeGuard } = services;
  storeGuard.check();
  const root = journalRoot(paths.blobs);
  if (existsSync(root)) {
    try {
      logReport(await merge(services, root, copyStart), join(root, "newer"), log);
    } catch (error) {
      // For example a full disk. Users may change files from now on, so only the operator may retry.
      log.error(
        "Could not apply the changes recorded after the snapshot. Stop the server, then run: larder rebuild --newer",
        {
          error,
        },
      );
    }
  }
  await writer.run(() => forgetCopyStart(sqlite));
}

async function merge(services: Services, root: string, copyStart: CopyStart): Promise<MergeReport> {
  const { sqlite, paths, clock } = services;
  return mergeNewer({
    ...services,
    layout: new Layout(paths.root),
    root,
    epoch: readEpoch(sqlite),
    restoredAtMs: readRestoredAt(sqlite),
    workingFile: newerWorkingFile(paths.root),
    email: undefined,
    isDryRun: false,
    passwordHash: await new PasswordHasher().hash(newSecretToken()),
    nowMs: clock.nowMs(),
    copyStart,
  });
}

function logReport(report: MergeReport, folder: string, log: Log): void {
  const { accounts, groups, profiles, damaged, missing } = report;
  for (const account of accounts) {
    const { email, files, folders, versions, labels, moved, removed, shares, revoked, isNew, untilMs } = account;
    log.info("Applied the changes recorded after the snapshot.", {
      account: email,
      ...(untilMs !== undefined && { until: toTimestamp(untilMs) }),
      files,
      folders,
      versions,
      labels,
      moved,
      movedToTrash: removed,
      shares,
      sharesEnded: revoked,
    });
    if (isNew) {
      log.warn(
        "An account is newer than the snapshot and has no password. Set one: larder user set EMAIL --password-stdin",
        {
          account: email,
        },
      );
    }
  }
  const hasPeople = Object.values({ ...groups, ...profiles }).some((count) => count > 0);
  if (hasPeople)
    log.info("Applied the changes of groups and people recorded after the snapshot.", { groups, profiles });
  if (accounts.length === 0 && !hasPeople && damaged.length === 0) {
    log.info("The metadata journal has no changes newer than the snapshot.");
  }
  for (const { path, fault } of damaged) log.warn("Cannot read entries of the metadata journal.", { path, fault });
  for (const { names, sizeBytes } of missing.slice(0, NAMED_MAX)) {
    log.warn("The data of a file that is newer than the snapshot is missing.", { names, sizeBytes });
  }
  if (damaged.length + missing.length === 0) return;
  log.warn(
    "Could not apply some changes recorded after the snapshot; they are kept for 30 days. Copy the original again, or stop the " +
      "server and apply the readable changes, which may restore deleted files: larder rebuild --newer",
    { path: folder, missingContents: missing.length },
  );
}
