import type { Job } from "../../jobs/scheduler.ts";
import type { StrippedPhotos } from "./shares/stripped-photos.ts";
import type { GroupNotices } from "./shares/group-notices.ts";
import type { LinkGuesses } from "./shares/guesses.ts";
import type { ShareService } from "./shares/service.ts";

/** Dependencies of the jobs of shares. */
interface SharingJobsOptions {
  readonly shares: ShareService;
  readonly linkGuesses: LinkGuesses;
  readonly strippedPhotos: StrippedPhotos;
  readonly groupNotices: GroupNotices;
}

/** Notifies the members of groups. */
export const GROUP_NOTICES_JOB = "group-notices";

const SWEEP_ROWS = 1_000;
const REST_MS = 5;

/** Removes expired shares and old records of visitors, and notifies the members of groups of new shares. */
export function sharingJobs({ shares, linkGuesses, strippedPhotos, groupNotices }: SharingJobsOptions): Job[] {
  return [
    {
      name: "shares",
      schedule: "33 4 * * *",
      description:
        "Removes shares 30 days after they expired. Removes photos without metadata after one week, and address digests of wrong passwords after 30 days.",
      deletesByAge: true,
      async run({ signal }) {
        let removed = 0;
        for (let batch = -1; batch !== 0 && !signal.aborted; removed += Math.max(0, batch)) {
          batch = (await shares.sweep(SWEEP_ROWS)) + (await linkGuesses.sweep(SWEEP_ROWS));
          await Bun.sleep(REST_MS);
        }
        return `${removed} shares and addresses, ${await strippedPhotos.sweep()} photos removed`;
      },
    },
    {
      name: GROUP_NOTICES_JOB,
      schedule: "*/10 * * * *",
      description: "Notifies the members of groups of new shares. Runs at once after each share with a group.",
      async run({ signal }) {
        let notified = 0;
        while (!signal.aborted) {
          const some = await groupNotices.notifySome();
          if (some === undefined) break;
          notified += some;
          await Bun.sleep(REST_MS);
        }
        return `${notified} members notified`;
      },
    },
  ];
}
