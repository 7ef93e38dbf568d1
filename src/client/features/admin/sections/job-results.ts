/** The results of jobs as sentences. The server reports counts with short English phrases, for its log and for scripts. */
import { formatBytes } from "../../../base/format.ts";
import { defineText } from "../../../base/text.ts";

const text = defineText("admin-job-results", {
  nothingToDo: "Nothing to do.",
  noDamage: "No damage found.",
  done: "Done.",
  sentence: "{parts}.",
  snapshotTaken: "Snapshot of {size} saved.",
  garbage: "Removed {files, plural, one {# unused file} other {# unused files}}, {bytes, number, bytes} freed.",
  checked: "{files, plural, one {# file checked} other {# files checked}} ({size}), no damage found",
  damageFound:
    "{files, plural, one {# file checked} other {# files checked}} ({size}), {found, plural, one {# new problem} other {# new problems}}",
  inStore: "{files, plural, one {# file} other {# files}} ({size}).",
  moved: "{moved, plural, one {# file moved} other {# files moved}} ({bytes, number, bytes})",
  notMoved: "{n, plural, one {# failed} other {# failed}}",
  waits: "Waiting: {why}",
  /** By the phrase of the server. Counts of zero are left out. */
  counts: {
    "sessions and refresh tokens removed": "{n, plural, one {# sign-in removed} other {# sign-ins removed}}",
    "keys removed": "{n, plural, one {# API key removed} other {# API keys removed}}",
    "app passwords removed": "{n, plural, one {# app password removed} other {# app passwords removed}}",
    "invitations removed": "{n, plural, one {# invitation removed} other {# invitations removed}}",
    "rows removed": "{n, plural, one {# old entry removed} other {# old entries removed}}",
    "entries removed": "{n, plural, one {# old entry removed} other {# old entries removed}}",
    "emails dropped or removed": "{n, plural, one {# email removed} other {# emails removed}}",
    "password reset links removed":
      "{n, plural, one {# password reset link removed} other {# password reset links removed}}",
    "confirmation links removed": "{n, plural, one {# confirmation link removed} other {# confirmation links removed}}",
    "locks removed": "{n, plural, one {# file lock removed} other {# file locks removed}}",
    "sign-ins removed": "{n, plural, one {# sign-in removed} other {# sign-ins removed}}",
    "files and folders deleted": "{n, plural, one {# file or folder deleted} other {# files and folders deleted}}",
    "results removed": "{n, plural, one {# stored response removed} other {# stored responses removed}}",
    items: "{n, plural, one {# item removed} other {# items removed}}",
    "accounts removed": "{n, plural, one {# account removed} other {# accounts removed}}",
    "versions removed": "{n, plural, one {# earlier version removed} other {# earlier versions removed}}",
    "changed folders refreshed": "{n, plural, one {# changed folder updated} other {# changed folders updated}}",
    "sizes added up": "{n, plural, one {# size calculated} other {# sizes calculated}}",
    "counters differ": "{n, plural, one {# wrong count corrected} other {# wrong counts corrected}}",
    "sort keys corrected": "{n, plural, one {# sort key corrected} other {# sort keys corrected}}",
    "deliveries dropped or removed": "{n, plural, one {# delivery removed} other {# deliveries removed}}",
    "holds finished": "{n, plural, one {# approved change finished} other {# approved changes finished}}",
    expired: "{n, plural, one {# upload expired} other {# uploads expired}}",
    found: "{n, plural, one {# upload found complete} other {# uploads found complete}}",
    removed: "{n, plural, one {# old entry removed} other {# old entries removed}}",
    "shares and addresses": "{n, plural, one {# share removed} other {# shares removed}}",
    "photos removed": "{n, plural, one {# copy of a photo removed} other {# copies of photos removed}}",
    "files with new thumbnails": "{n, plural, one {# file with new thumbnails} other {# files with new thumbnails}}",
    "members notified": "{n, plural, one {# member notified} other {# members notified}}",
    "blobs moved to quarantine": "{n, plural, one {# file moved to quarantine} other {# files moved to quarantine}}",
    "uploads removed": "{n, plural, one {# unfinished upload removed} other {# unfinished uploads removed}}",
    moved: "{n, plural, one {# file moved} other {# files moved}}",
    failed: "{n, plural, one {# failed} other {# failed}}",
    "local copies evicted": "{n, plural, one {# local copy removed} other {# local copies removed}}",
    repaired: "{n, plural, one {# file repaired} other {# files repaired}}",
    "objects registered": "{n, plural, one {# new file found in the bucket} other {# new files found in the bucket}}",
    "missing or of a different size":
      "{n, plural, one {# file missing or of a different size} other {# files missing or of a different size}}",
  },
  /** What the server says without a number. */
  remarks: {
    "see the log": "details are in the server log",
    "the next run continues": "the next run continues",
    "waiting for free disk space": "waiting for free disk space",
    "the image library is not available": "the image library is not available",
    "turned off (scrub.rate)": "Turned off (scrub.rate)",
    "turned off (s3.scrub)": "Turned off (s3.scrub)",
    claimed: "The bucket belongs to this server now",
  },
});

/** The result of a job as a sentence. What has no words here is shown as the server reports it. */
export function describeResult(job: string, result: string): string {
  const counts = parseCounts(result);
  if (counts !== undefined) return describeCounts(counts);
  if (result === "not due") return text.nothingToDo;
  if (result === "ok") return text.noDamage;
  if (result === "done" || (job === "journal" && /^\d+ steps?$/.test(result))) return text.done;
  const why = /^waits: (.+)$/.exec(result)?.[1];
  if (why !== undefined) return text.waits({ why });
  const [, count, stored] = /^(\d+) files, (.+) in the store$/.exec(result) ?? [];
  if (stored !== undefined) return text.inStore({ files: Number(count), size: describeSize(stored) });
  // A file name and a size.
  const size = job === "snapshot" ? /^[^ ]+, (.+)$/.exec(result)?.[1] : undefined;
  if (size !== undefined) return text.snapshotTaken({ size: describeSize(size) });
  return describeParts(result);
}

/** `3 rows removed, 0 links removed; see the log`: the parts with counts above zero, and the remarks. */
function describeParts(result: string): string {
  const [, files, size, found, rest = ""] =
    /^(\d+) blobs? read, ([\d.]+ \w+); (\d+) new findings(?:; (.+))?$/.exec(result) ?? [];
  if (files !== undefined && size !== undefined) {
    const values = { files: Number(files), size: describeSize(size), found: Number(found) };
    const summary = values.found === 0 ? text.checked(values) : text.damageFound(values);
    return sentence([summary, ...(rest === "" ? [] : [text.remarks(rest)])]);
  }
  const parts = result.split(/[,;] /).map((part) => {
    const [, count, what] = /^(\d+) (.+)$/.exec(part) ?? [];
    if (what === undefined) return /^\d/.test(part) ? part : text.remarks(part);
    return count === "0" ? "" : text.counts(what, { n: Number(count) }, part);
  });
  return parts.some((part) => /\d/.test(part)) || !result.startsWith("0 ")
    ? sentence(parts.filter((part) => part !== ""))
    : text.nothingToDo;
}

function describeCounts(counts: Readonly<Record<string, number>>): string {
  const { moved, failed = 0, movedBytes = 0, removed = 0, freedBytes = 0 } = counts;
  if (moved === undefined) return text.garbage({ files: removed, bytes: freedBytes });
  return sentence([
    text.moved({ moved, bytes: movedBytes }),
    ...(failed === 0 ? [] : [text.notMoved({ n: failed })]),
    ...(removed === 0 ? [] : [text.counts("removed", { n: removed })]),
  ]);
}

function sentence(parts: readonly string[]): string {
  const joined = parts.join(", ");
  return text.sentence({ parts: `${joined.charAt(0).toLocaleUpperCase()}${joined.slice(1)}` });
}

const UNITS = ["bytes", "KB", "MB", "GB", "TB"];

/** A size such as `1.5 MB`, as the language of the page writes it. */
function describeSize(size: string): string {
  const [, amount, unit = ""] = /^([\d.]+) (\w+)$/.exec(size) ?? [];
  const power = unit === "byte" ? 0 : UNITS.indexOf(unit);
  return amount === undefined || power < 0 ? size : formatBytes(Number(amount) * 1024 ** power);
}

/** The result of a job that reports JSON. */
function parseCounts(result: string): Readonly<Record<string, number>> | undefined {
  if (!result.startsWith("{")) return undefined;
  try {
    const parsed: unknown = JSON.parse(result);
    if (typeof parsed !== "object" || parsed === null) return undefined;
    return Object.fromEntries(
      Object.entries(parsed).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
    );
  } catch {
    return undefined; // Not JSON after all: shown as it is.
  }
}
