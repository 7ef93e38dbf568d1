import type { LostContent } from "../features/backup/types.ts";

const NAMED_MAX = 20;

/** What could not be taken along, by name. @param count how many there are, where `lost` has only some */
export function describeLost(lost: readonly LostContent[], count = lost.length): string {
  const lines = lost
    .slice(0, NAMED_MAX)
    .map(
      ({ digest, why, names }) =>
        `  ${why}: ${names.length === 0 ? "(no name)" : names.join(", ")} (sha256 ${digest})\n`,
    );
  const more = count > lines.length ? `  and ${count - lines.length} more\n` : "";
  return `${count} contents are not whole:\n${lines.join("")}${more}See: larder verify --help, larder heal --help\n`;
}
