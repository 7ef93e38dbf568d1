import { defineText } from "../../../base/text.ts";
import { locale } from "../../../base/format.ts";

/** The text of the section about jobs. */
export const text = defineText("admin-jobs", {
  names: {
    sessions: "Clean up sign-ins",
    "api-keys": "Clean up deleted API keys",
    invites: "Clean up invitations",
    "rate-limits": "Clean up rate limits",
    mail: "Clean up emails",
    audit: "Trim the audit log",
    "daily-sample": "Record figures for charts",
    locks: "Release file locks",
    "login-flows": "Clean up sign-ins of programs",
    trash: "Empty old trash",
    "idempotency-keys": "Clean up repeated requests",
    "reap-deleted": "Remove deleted folders",
    "old-versions": "Remove old versions",
    history: "Trim the history",
    journal: "Trim the change log",
    undo: "Remove old undo records",
    "folder-states": "Update folder sizes",
    recount: "Recount storage",
    "media-info": "Clean up photo details",
    thumbnails: "Create missing thumbnails",
    notifications: "Clean up notifications",
    webhooks: "Clean up webhook deliveries",
    "offline-queue": "Clean up offline changes",
    "device-changes": "Finish device changes",
    shares: "Clean up shares",
    "group-notices": "Notify members of groups",
    snapshot: "Take a database snapshot",
    "newer-notes": "Clean up after a restore",
    "disk-reserve": "Reserve emergency disk space",
    gc: "Free disk space",
    leftovers: "Set unrecognized files aside",
    scrub: "Check files for damage",
    "quick-check": "Check the database",
    "blob-places": "Move files to the bucket",
    "bucket-stock": "Compare with the bucket",
    "bucket-scrub": "Check the bucket for damage",
    uploads: "Clean up unfinished uploads",
  },
  /** What a job does. Some jobs have only the description of the server. */
  descriptions: {
    "api-keys": "Removes records of API keys and app passwords 90 days after they were deleted.",
    invites: "Removes invitations 90 days after they expired.",
    mail: "Gives up on emails that could not be sent in time, and removes old results.",
    "daily-sample": "Records the storage and transfers of the day for the charts.",
    locks: "Removes expired file locks of programs.",
    "login-flows": "Removes expired sign-ins of programs.",
    trash: "Deletes items permanently when their time in the trash ends.",
    "old-versions": "Removes earlier versions that exceed the number or age to keep.",
    notifications: "Removes notifications after 90 days.",
    webhooks: "Gives up on deliveries after one day, and removes old ones after 30 days.",
    "quick-check": "Checks the structure of the database for damage.",
    "blob-places": "Sends files to the bucket, and removes local copies that nobody uses.",
    "bucket-stock": "Compares the bucket with the database, and registers new files.",
    "bucket-scrub": "Reads the files that only the bucket has, starting with those checked longest ago.",
    uploads: "Removes expired uploads, and frees their space.",
    sessions: "Removes expired sign-ins.",
    "rate-limits": "Removes request counts that are no longer needed.",
    audit: "Removes old entries from the audit log.",
    "idempotency-keys": "Removes stored responses of repeated requests after one day.",
    "reap-deleted": "Removes the remains of deleted folders and accounts, a few files at a time.",
    history: "Removes old locations of moved files and folders.",
    journal: "Removes old entries that apps no longer need for syncing.",
    undo: "Removes what is needed to undo the changes of a device, after 30 days.",
    "folder-states": "Updates the sizes of folders that changed.",
    recount: "Counts the storage of each account again, and reports differences.",
    "media-info": "Removes the details of deleted photos.",
    thumbnails: "Creates missing thumbnails, for example of files that a command imported.",
    "device-changes": "Finishes approved changes of devices, and removes old conflicts.",
    shares: "Removes shares 30 days after they expired, and copies of photos without location after one week.",
    "group-notices": "Notifies the members of a group of what is newly shared with it, 50 at a time.",
    "offline-queue": "Removes changes that phones made offline: unfinished ones after 30 days, others after 7 days.",
    snapshot: "Saves a copy of the database if it has changed, and thins out old copies.",
    "newer-notes": "Removes the record of changes after a restored snapshot, 30 days after the restore.",
    gc: "Removes the data of deleted files from the disk after a grace period.",
    leftovers: "Moves stored data that belongs to no file, for example after a crash, to the quarantine folder.",
    scrub: "Reads stored files, starting with those checked longest ago, and compares them with their checksums.",
    "disk-reserve": "Reserves a few megabytes, so that the database can still be written when the disk is full.",
  },
  everyMinutes: "{n, plural, one {Every minute} other {Every # minutes}}",
  everyHour: "Every hour, {minute, plural, one {# minute} other {# minutes}} past the hour",
  everyNight: "Every night at {time}",
  everyDay: "Every day at {time}",
  everyWeek: "Every {day} at {time}",
  took: "{when}, took {seconds}",
  lessThanSecond: "less than 1 s",
  seconds: "{n, number} s",
  minutes: "{n, number} min",
  next: "Next run: {when}",
  failedHint: "The next run tries again. To check now, run the job. If it still fails, see the server log.",
});

const NIGHT_ENDS_HOUR = 6;

/** A cron pattern in words; patterns that have none are returned as they are. */
export function describeSchedule(pattern: string): string {
  const [minute = "", hour = "", day, month, weekday = ""] = pattern.split(" ");
  if (pattern.split(" ").length !== 5 || day !== "*" || month !== "*") return pattern;
  const step = /^\*(?:\/(\d+))?$/.exec(minute);
  if (step !== null && hour === "*" && weekday === "*") return text.everyMinutes({ n: Number(step[1] ?? 1) });
  if (!/^\d+$/.test(minute)) return pattern;
  if (hour === "*" && weekday === "*") return text.everyHour({ minute: Number(minute) });
  if (!/^\d+$/.test(hour)) return pattern;
  const at = new Date(2000, 0, 2, Number(hour), Number(minute));
  const time = at.toLocaleTimeString(locale(), { hour: "numeric", minute: "2-digit" });
  if (/^[0-6]$/.test(weekday)) {
    const name = new Date(2000, 0, 2 + Number(weekday)).toLocaleDateString(locale(), { weekday: "long" });
    return text.everyWeek({ day: name, time });
  }
  if (weekday !== "*") return pattern;
  return Number(hour) < NIGHT_ENDS_HOUR ? text.everyNight({ time }) : text.everyDay({ time });
}

/** How long a run took. */
export function describeDuration(ms: number): string {
  if (ms < 1000) return text.lessThanSecond;
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? text.seconds({ n: seconds }) : text.minutes({ n: Math.round(seconds / 60) });
}
