import { say } from "../../translations/say.ts";
import { BadValue, choice, duration, optionalText, readPath, toggle } from "../setting.ts";

/** How the metadata is replicated to a bucket, and who may take over. */
export const REPLICATION_SETTINGS = {
  replica: {
    url: optionalText(
      "URL",
      readReplicaUrl,
      "Replicate the database continuously to this path in a bucket, such as s3://larder-replica/home, so that another machine can take over. The service and the keys are those of s3.*.",
    ),
    keyFile: optionalText(
      "path",
      readPath,
      "File with the key that seals copies of secrets/ in the replica. To make one, run larder replica key.",
    ),
    litestream: optionalText(
      "path",
      readPath,
      "Litestream 0.3.13, the program that replicates the database. If not set, litestream is looked for on PATH.",
    ),
    lease: duration(
      "1s",
      "10m",
      "10s",
      "How long this server may write after the bucket last confirmed that no other server has taken over.",
    ),
  },
  standby: {
    automatic: toggle(
      false,
      "Let larder standby promote itself when the owner of the store sends no heartbeats. Without it, run larder promote.",
    ),
  },
};

/** When a change is confirmed. It belongs to the group `blobs`. */
export const ACKNOWLEDGE = choice(
  ["disk", "bucket"],
  "disk",
  "When a change is confirmed: once it is on this disk, or once the files are in the bucket and the database is in the replica (bucket).",
);

/** The bucket, and the prefix of all keys in it: empty, or with a slash at its end. */
export function parseReplicaUrl(url: string): { bucket: string; prefix: string } {
  const [bucket = "", ...folders] = url.slice("s3://".length).split("/");
  return { bucket, prefix: folders.map((folder) => `${folder}/`).join("") };
}

/** Reads the URL of a replica, without a slash at its end. */
function readReplicaUrl(text: string): string {
  const plain = text.replace(/\/+$/, "");
  const isReplica = /^s3:\/\/[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9](\/[A-Za-z0-9._-]+)*$/.test(plain);
  const hasDots = plain.split("/").some((part) => part === "." || part === "..");
  if (!isReplica || hasDots || plain.length > 260) {
    throw new BadValue(
      say`must be a bucket and a path such as "s3://larder-replica/home" with only letters, digits, ".", "_", "-", and "/"`,
    );
  }
  return plain;
}
