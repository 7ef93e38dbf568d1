import type { Job } from "../../jobs/scheduler.ts";
import type { MediaInfoService } from "./metadata/service.ts";

/** Deletes metadata of blobs that no longer exist. */
export function mediaJobs({ mediaInfo }: { readonly mediaInfo: MediaInfoService }): Job[] {
  return [
    {
      name: "media-info",
      schedule: "47 4 * * *",
      description: "Removes the metadata of blobs that are no longer in the store.",
      run: async ({ signal }) => `${await mediaInfo.sweep(signal)} entries removed`,
    },
  ];
}
