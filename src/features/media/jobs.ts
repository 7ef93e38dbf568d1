import type { Job } from "../../jobs/scheduler.ts";
import type { MediaInfoService } from "./metadata/service.ts";
import type { ThumbnailBackfill } from "./thumbnails/backfill.ts";

/** Dependencies of {@link mediaJobs}. */
interface MediaJobsOptions {
  readonly mediaInfo: MediaInfoService;
  /** Undefined if thumbnails are turned off. */
  readonly thumbnailBackfill: ThumbnailBackfill | undefined;
}

/** Deletes metadata of blobs that no longer exist, and makes thumbnails that are missing. */
export function mediaJobs({ mediaInfo, thumbnailBackfill }: MediaJobsOptions): Job[] {
  const jobs: Job[] = [
    {
      name: "media-info",
      schedule: "47 4 * * *",
      description: "Removes the metadata of blobs that are no longer in the store.",
      run: async ({ signal }) => `${await mediaInfo.sweep(signal)} entries removed`,
    },
  ];
  if (thumbnailBackfill === undefined) return jobs;
  const thumbnails: Job = {
    name: "thumbnails",
    schedule: "*/5 * * * *",
    description: "Creates missing thumbnails, for example of files that a command imported.",
    run: async (context) => thumbnailBackfill.run(context),
  };
  return [...jobs, thumbnails];
}
