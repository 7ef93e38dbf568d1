import { accountsJobs } from "../../features/accounts/jobs.ts";
import { administrationJobs } from "../../features/administration/jobs.ts";
import { clientsJobs } from "../../features/clients/jobs.ts";
import { libraryJobs } from "../../features/library/jobs.ts";
import { mediaJobs } from "../../features/media/jobs.ts";
import { messagingJobs } from "../../features/messaging/jobs.ts";
import { mobileJobs } from "../../features/mobile/jobs.ts";
import { sharingJobs } from "../../features/sharing/jobs.ts";
import { storageJobs } from "../../features/storage/jobs.ts";
import { uploadsJobs } from "../../features/uploads/jobs.ts";
import type { Job } from "../../jobs/scheduler.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Services } from "./services.ts";

/** Every scheduled job by name, in the order of the list and of the runs that catch up after a start. */
const ORDER = [
  "gc",
  "snapshot",
  "leftovers",
  // Early: until it has run after an upgrade, each request of a sync client adds sizes up.
  "folder-states",
  "blob-places",
  "bucket-stock",
  "bucket-scrub",
  "scrub",
  "reap-deleted",
  "trash",
  "newer-notes",
  "old-versions",
  "history",
  "journal",
  "sessions",
  "api-keys",
  "mail",
  "audit",
  "invites",
  "login-flows",
  "rate-limits",
  "idempotency-keys",
  "locks",
  "shares",
  "group-notices",
  "offline-queue",
  "device-changes",
  "quick-check",
  "uploads",
  "undo",
  "media-info",
  "thumbnails",
  "daily-sample",
  "disk-reserve",
  "notifications",
  "webhooks",
  "recount",
];

/** The jobs of this server. Each does a bounded piece of work and may be killed at any point. */
export function timetable(services: Omit<Services, "close">): Job[] {
  const jobs = [
    ...accountsJobs(services),
    ...libraryJobs(services),
    ...sharingJobs(services),
    ...uploadsJobs(services),
    ...storageJobs(services),
    ...messagingJobs(services),
    ...mobileJobs(services),
    ...clientsJobs(services),
    ...administrationJobs(services),
    ...mediaJobs(services),
  ];
  for (const job of jobs) invariant(positionOf(job) >= 0, `the job ${job.name} is listed in the order`);
  return jobs.toSorted((one, other) => positionOf(one) - positionOf(other));
}

function positionOf({ name }: Job): number {
  return ORDER.indexOf(name);
}
