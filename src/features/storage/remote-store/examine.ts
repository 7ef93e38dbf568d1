/** The state of the bucket, for `larder doctor`. */
import type { Database } from "bun:sqlite";
import { S3Error } from "../../../blobs/s3/error.ts";
import type { Config } from "../../../config/settings.ts";
import { openClient } from "./open.ts";
import { findOwner, type Owner } from "./owner.ts";
import { countUnsent } from "./queries.ts";

/** A sentence and a state. */
interface BucketFinding {
  readonly state: "ok" | "wrong";
  readonly text: string;
}

/**
 * Requests one object from the configured bucket; returns undefined if there is none. Changes nothing.
 * @param sqlite the database, if it exists
 * @param own what this directory would write into the bucket's marker, if it has a store
 * @throws StartupError if settings contradict each other
 */
export async function examineBucket(
  { s3, blobs }: Pick<Config, "s3" | "blobs">,
  sqlite: Database | undefined,
  own: Owner | undefined,
): Promise<BucketFinding | undefined> {
  const bucket = openClient(s3);
  if (bucket === undefined) return undefined;
  const onlyHere = sqlite === undefined || blobs.store !== "s3" ? undefined : countUnsent(sqlite);
  const waiting = onlyHere === undefined ? "" : `; ${onlyHere} blobs are stored only on this disk`;
  try {
    const { state, whose } = describeOwner(await findOwner(bucket.client, bucket.prefix), own);
    return { state, text: `${bucket.name} at ${String(s3.endpoint)}, ${whose}${waiting}` };
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    const text = `${error.message} Uploads stay on this disk; files stored only in the bucket cannot be read${waiting}.`;
    return { state: "wrong", text };
  }
}

/** Whose the bucket is. */
function describeOwner(
  owner: Owner | "unreadable" | undefined,
  own: Owner | undefined,
): { state: BucketFinding["state"]; whose: string } {
  if (owner === undefined) return { state: "ok", whose: "nobody's yet" };
  if (own === undefined && owner !== "unreadable") return { state: "ok", whose: `in use by store ${owner.store}` };
  if (owner === "unreadable" || owner.store !== own?.store) {
    return { state: "wrong", whose: "in use by another store: set another s3.prefix or s3.bucket" };
  }
  const isOurs = owner.epoch === own.epoch && (owner.directory ?? own.directory) === own.directory;
  if (isOurs) return { state: "ok", whose: "in use by this server" };
  return {
    state: "wrong",
    whose:
      "in use by another copy of this data directory, so nothing is removed from it. If that copy is no longer in use, " +
      "and no other machine owns the store, run: larder blobs claim",
  };
}
