/** What an operator is told of the bucket. */
import { S3Error } from "../../blobs/s3/client.ts";
import type { Config } from "../../config/settings.ts";
import { openClient } from "./open.ts";
import { MARKER } from "./owner.ts";

/** A sentence, and how it stands. */
export interface BucketFinding {
  readonly state: "ok" | "wrong";
  readonly text: string;
}

/**
 * Asks the bucket of the settings for one object; undefined where none is set. Changes nothing.
 * @throws StartupError where settings contradict each other
 */
export async function examineBucket({ s3 }: Pick<Config, "s3">): Promise<BucketFinding | undefined> {
  const bucket = openClient(s3);
  if (bucket === undefined) return undefined;
  try {
    const marker = await bucket.client.getSmall(bucket.prefix + MARKER);
    const whose = marker === undefined ? "nobody's yet" : "in use";
    return { state: "ok", text: `${bucket.name} at ${String(s3.endpoint)}, ${whose}` };
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    return { state: "wrong", text: `${error.message} Uploads stay on this disk; what lies there alone can't be read.` };
  }
}
