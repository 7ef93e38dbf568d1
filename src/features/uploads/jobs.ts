import type { Job } from "../../jobs/scheduler.ts";
import type { UploadService } from "./chunked/service.ts";

/** Removes expired uploads. */
export function uploadsJobs({ uploads }: { readonly uploads: UploadService }): Job[] {
  return [
    {
      name: "uploads",
      schedule: "*/10 * * * *",
      description: "Removes expired uploads and frees their space.",
      deletesByAge: true,
      run: async ({ signal }) => `${await uploads.sweep(signal)} uploads removed`,
    },
  ];
}
