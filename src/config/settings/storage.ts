import { say } from "../../translations/say.ts";
import { readService } from "./addresses.ts";
import { ACKNOWLEDGE, REPLICATION_SETTINGS } from "./replication.ts";
import {
  BadValue,
  choice,
  duration,
  integer,
  optionalText,
  readPath,
  size,
  sizeOrNone,
  text,
  toggle,
} from "../setting.ts";

/** How much of the machine the server may use, where files are stored, and how long deleted data is kept. */
export const STORAGE_SETTINGS = {
  minFreeSpace: sizeOrNone(
    "auto",
    "Disk space that uploads must leave free. auto is 2% of the disk, at least 8 MB and at most 512 MB.",
    "auto",
  ),
  maxConnections: integer(
    64,
    1_000_000,
    20_000,
    "Maximum number of open connections and files. Above it, or above three quarters of the open file limit, idle connections are closed.",
  ),
  maxRequests: integer(16, 1_000_000, 4096, "Maximum number of concurrent requests. More requests get status 503."),
  maxSlowBodies: integer(
    1,
    1_000_000,
    32,
    "Maximum number of requests from one address (IPv6: /64) whose form, JSON, or guest upload takes longer than one second to arrive. More requests get status 429.",
  ),
  importsFolder: optionalText(
    "path",
    readPath,
    "Folder with archives of other systems from which administrators can import into accounts.",
  ),
  importsMax: integer(1, 16, 2, "Maximum number of imports from other systems at the same time."),
  verifyAfterWrite: toggle(false, "Read each new file back from the disk before the upload is confirmed."),
  audit: {
    keep: duration("1d", "3650d", "365d", "How long audit log entries are kept."),
    files: choice(
      ["off", "changes", "all"],
      "changes",
      "File events in the audit log: none (off), permanent deletions (changes), or also every upload, change, and download (all).",
    ),
  },
  versions: {
    keep: integer(
      0,
      1_000,
      10,
      "Minimum number of earlier versions kept of each file. Users can change it for their account.",
    ),
    maxAge: duration(
      "0s",
      "3650d",
      "30d",
      "Minimum time that earlier versions are kept. Also how far back history can be viewed and undone, at most 90 days.",
    ),
  },
  trash: {
    keep: duration("0s", "3650d", "30d", "How long items stay in trash before they are deleted permanently."),
  },
  snapshots: {
    every: duration(
      "1m",
      "1d",
      "10m",
      "Maximum time from a change to the next snapshot of the database. Snapshots of small databases are taken sooner: up to 1 MB within 20 seconds, up to 64 MB within one minute.",
    ),
    keep: duration(
      "1h",
      "365d",
      "7d",
      "How long snapshots are kept; older ones are thinned out. Blobs that a snapshot refers to are not removed.",
    ),
  },
  blobs: {
    store: choice(
      ["disk", "s3"],
      "disk",
      "Where file data is stored: on this disk, or in a bucket (s3.*) with this disk as a cache.",
    ),
    acknowledge: ACKNOWLEDGE,
  },
  s3: {
    endpoint: optionalText("URL", readService, "Address of the S3-compatible service, such as https://s3.example.org."),
    region: text("text", readRegion, "us-east-1", "Region of the bucket."),
    bucket: optionalText("text", readBucket, "Name of the bucket, which must exist."),
    prefix: text(
      "path",
      readPrefix,
      "",
      'Prefix of all object keys in the bucket, such as "larder/". Each server needs its own bucket or prefix.',
    ),
    accessKeyId: optionalText("text", (value) => value, "Access key ID."),
    secretAccessKey: optionalText("text", (value) => value, "Secret access key.", true),
    secretAccessKeyFile: optionalText("path", readPath, "File that contains the secret access key."),
    pathStyle: toggle(
      true,
      "Put the bucket name in the path of addresses. off puts it in the host name, the AWS style.",
    ),
    verifyRate: size(
      "20MB",
      "Maximum bytes per second read from the bucket by larder verify --bucket and the nightly scrub (s3.scrub).",
    ),
    scrub: toggle(
      false,
      "Also scrub blobs that are stored only in the bucket, within scrub.within. This causes traffic.",
    ),
    cache: size("10GB", "Maximum size of the local cache of the bucket. Least recently used files are evicted first."),
  },
  ...REPLICATION_SETTINGS,
  scrub: {
    rate: size("20MB", "Bytes per second that the nightly scrub reads to find damaged files. 0 turns the scrub off."),
    maxTime: duration("1m", "24h", "4h", "Maximum duration of the scrub per night."),
    within: duration(
      "0s",
      "3650d",
      "30d",
      "Time within which the scrub reads every stored byte, if necessary faster than scrub.rate. 0s reads everything each night.",
    ),
  },
  gcGrace: duration(
    "0s",
    "3650d",
    "7d",
    "Grace period: how long the data of deleted files stays on the disk before garbage collection removes it.",
  ),
  allowNetworkFilesystem: toggle(
    false,
    "Allow the database on NFS, SMB, or FUSE, where it can be damaged. File data (blobs) is always allowed there.",
  ),
};

function readRegion(region: string): string {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(region)) throw new BadValue(say`must be a region such as "eu-central-1"`);
  return region;
}

function readBucket(bucket: string): string {
  const isBucket = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket);
  if (!isBucket) throw new BadValue(say`must be 3 to 63 letters, digits, ".", "_", or "-"`);
  return bucket;
}

function readPrefix(prefix: string): string {
  const plain = prefix.replace(/\/+$/, "");
  if (plain === "") return "";
  const isPrefix = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/.test(plain) && plain.length <= 200;
  if (!isPrefix)
    throw new BadValue(say`must be a path such as "larder/home" with only letters, digits, ".", "_", "-", and "/"`);
  return `${plain}/`;
}
