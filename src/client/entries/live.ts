/**
 * Live Photos: photos with a short video, in a file of its own or in the same one. Actions on both
 * files are only offered where one item stands for them: on the pages of photos and albums.
 */
import { apiAddress } from "../api/http.ts";
import type { Entry, FileRecord } from "../api/types.ts";

/** Whether a photo has a video. */
export function hasMotion(entry: Entry): boolean {
  return "motion" in entry && (entry.motion === "pair" || entry.motion === "embedded");
}

/** The ids of entries, and of the files with the videos of Live Photos: actions on a photo are on both. */
export function idsWithVideos(entries: readonly Entry[]): string[] {
  const ids = entries.flatMap((entry) =>
    "motionFileId" in entry && typeof entry.motionFileId === "string" ? [entry.id, entry.motionFileId] : [entry.id],
  );
  return [...new Set(ids)];
}

/** The address of the video of a photo. A preview does not count as a download. */
export function motionAddress(file: FileRecord, isPreview: boolean): string {
  return apiAddress(`/api/files/${file.id}/motion`, { preview: isPreview || undefined, v: file.version });
}
