import { toChecksum } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
import type { DatabaseCounts, LostContent } from "../../features/storage/backup/types.ts";
import type { MissingContent } from "../../features/storage/store-journal/rebuild.ts";
import { count } from "./output.ts";

const NAMED_MAX = 20;

/** Names the blobs that could not be copied or restored. @param total how many there are, if `lost` has only some */
export function describeLost(lost: readonly LostContent[], total = lost.length): string {
  const lines = lost
    .slice(0, NAMED_MAX)
    .map(
      ({ digest, why, names }) =>
        `  ${why}: ${names.length === 0 ? "(no file name)" : names.join(", ")} (sha256 ${digest})\n`,
    );
  const more = total > lines.length ? `  and ${total - lines.length} more\n` : "";
  return `Missing or damaged: ${count(total, "blob")}.\n${lines.join("")}${more}To repair them: larder verify --help, larder heal --help\n`;
}

/** Lines about journal files that cannot be read to their end. */
export function describeUnread(damaged: readonly { readonly path: string; readonly fault: string }[]): string[] {
  return damaged.slice(0, NAMED_MAX).map(({ path, fault }) => `Could not read all of ${path}: ${fault}.`);
}

/** Lines about blobs that the journal names and the store does not have. */
export function describeMissing(missing: readonly MissingContent[]): string[] {
  return missing
    .slice(0, NAMED_MAX)
    .map(({ digest, sizeBytes, names }) => `  ${toChecksum(digest)}, ${describeSize(sizeBytes)}: ${names.join(", ")}`);
}

/** The blobs of {@link describeMissing} for `--json`. */
export function presentMissing(missing: readonly MissingContent[]) {
  return missing.map(({ digest, sizeBytes, names }) => ({ checksum: toChecksum(digest), size: sizeBytes, names }));
}

/** The contents of a database: "2 users, 1 file, 0 folders, 48.8 KB". */
export function describeCounts({ users, files, folders, bytes }: DatabaseCounts): string {
  return `${count(users, "user")}, ${count(files, "file")}, ${count(folders, "folder")}, ${describeSize(bytes)}`;
}
