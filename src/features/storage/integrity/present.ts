import { toChecksum } from "../../../blobs/digest.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import type { IntegrityFigures } from "./service.ts";
import type { Finding } from "./types.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Days are rounded to hundredths. */
const PARTS = 100;

/** An entry of GET /api/admin/findings. */
export function presentFinding(finding: Finding) {
  return {
    id: finding.publicId,
    kind: finding.kind,
    checksum: finding.digest === null ? null : toChecksum(finding.digest),
    size: finding.sizeBytes,
    detail: finding.detail,
    files: finding.files,
    foundAt: toTimestamp(finding.foundAtMs),
    seenAt: toTimestamp(finding.seenAtMs),
    resolvedAt: finding.resolvedAtMs === null ? null : toTimestamp(finding.resolvedAtMs),
    resolution: finding.resolution,
  };
}

/** `integrity` in GET /api/admin/stats. */
export function presentIntegrity({ open, oldestReadingMs }: IntegrityFigures, withinMs: number, nowMs: number) {
  const ageMs = oldestReadingMs === undefined ? null : Math.max(0, nowMs - oldestReadingMs);
  return {
    openFindings: open,
    oldestReadingAt: oldestReadingMs === undefined ? null : toTimestamp(oldestReadingMs),
    readWithinDays: ageMs === null ? null : inDays(ageMs),
    scrubWithinDays: inDays(withinMs),
  };
}

function inDays(ms: number): number {
  return Math.round((ms / DAY_MS) * PARTS) / PARTS;
}
