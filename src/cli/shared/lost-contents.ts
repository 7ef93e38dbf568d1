import { toChecksum } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
import type { LostContent } from "../../features/storage/backup/types.ts";
import type { MissingContent } from "../../features/storage/store-journal/rebuild.ts";

const NAMED_MAX = 20;

/** What could not be taken along, by name. @param count how many there are, where `lost` has only some */
export function describeLost(lost: readonly LostContent[], count = lost.length): string {
  const lines = lost
    .slice(0, NAMED_MAX)
    .map(
      ({ digest, why, names }) =>
        `  ${why}: ${names.length === 0 ? "(no file name)" : names.join(", ")} (sha256 ${digest})\n`,
    );
  const more = count > lines.length ? `  and ${count - lines.length} more\n` : "";
  return `Missing or damaged: ${count} ${count === 1 ? "blob" : "blobs"}.\n${lines.join("")}${more}To repair them: larder verify --help, larder heal --help\n`;
}

/** Lines about files of the store journal that can't be read to their end. */
export function describeUnread(damaged: readonly { readonly path: string; readonly fault: string }[]): string[] {
  return damaged.slice(0, NAMED_MAX).map(({ path, fault }) => `Could not read all of ${path}: ${fault}.`);
}

/** Lines about contents that the store journal names and the store does not have. */
export function describeMissing(missing: readonly MissingContent[]): string[] {
  return missing
    .slice(0, NAMED_MAX)
    .map(({ digest, sizeBytes, names }) => `  ${toChecksum(digest)}, ${describeSize(sizeBytes)}: ${names.join(", ")}`);
}

/** The same for `--json`. */
export function presentMissing(missing: readonly MissingContent[]) {
  return missing.map(({ digest, sizeBytes, names }) => ({ checksum: toChecksum(digest), size: sizeBytes, names }));
}
