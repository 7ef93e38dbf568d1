import { formatBytes } from "../../base/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { text } from "./text.ts";

/** How full the disk of the data directory is. */
export function DiskMeter({ freeBytes, totalBytes }: { readonly freeBytes: number; readonly totalBytes: number }) {
  const usedPart = totalBytes === 0 ? 0 : 1 - freeBytes / totalBytes;
  return (
    <Progress
      value={usedPart}
      label={text.storageDisk}
      tone={usedPart > 0.95 ? "danger" : usedPart > 0.85 ? "warning" : "accent"}
      className="mb-2"
    />
  );
}

/** The free space as text. */
export function diskFree({ freeBytes, totalBytes }: { freeBytes: number; totalBytes: number }): string {
  return text.diskFreeOf({ free: formatBytes(freeBytes), total: formatBytes(totalBytes) });
}
