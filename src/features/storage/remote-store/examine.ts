/** The state of the bucket, for `larder doctor`. */
import type { Database } from "bun:sqlite";
import { S3Error } from "../../../blobs/s3/error.ts";
import type { Config } from "../../../config/settings.ts";
import { openClient } from "./open.ts";
import { MARKER } from "./owner.ts";
import { countUnsent } from "./queries.ts";

/** A sentence and a state. */
interface BucketFinding {
  readonly state: "ok" | "wrong";
  readonly text: string;
}

/**
 * Requests one object from the configured bucket; returns undefined if there is none. Changes nothing.
 * @param sqlite the database, if it exists
 * @throws StartupError if settings contradict each other
 */
export async function examineBucket(
  { s3, blobs }: Pick<Config, "s3" | "blobs">,
  sqlite: Database | undefined,
): Promise<BucketFinding | undefined> {
  const bucket = openClient(s3);
  if (bucket === undefined) return undefined;
  const onlyHere = sqlite === undefined || blobs.store !== "s3" ? undefined : countUnsent(sqlite);
  const waiting = onlyHere === undefined ? "" : `; ${onlyHere} blobs are stored only on this disk`;
  try {
    const marker = await bucket.client.getSmall(bucket.prefix + MARKER);
    const whose = marker === undefined ? "nobody's yet" : "in use";
    return { state: "ok", text: `${bucket.name} at ${String(s3.endpoint)}, ${whose}${waiting}` };
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    const text = `${error.message} Uploads stay on this disk; files stored only in the bucket cannot be read${waiting}.`;
    return { state: "wrong", text };
  }
}
