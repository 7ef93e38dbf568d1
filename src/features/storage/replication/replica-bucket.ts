import { S3Client } from "../../../blobs/s3/client.ts";
import type { S3Options } from "../../../blobs/s3/options.ts";
import { SmallObjects } from "../../../blobs/s3/small-objects.ts";
import type { Config } from "../../../config/settings.ts";
import { parseReplicaUrl } from "../../../config/settings/replication.ts";
import { StartupError } from "../../../config/startup-error.ts";
import { readS3Options } from "../remote-store/s3-options.ts";

/** The bucket of the replica. */
export interface ReplicaBucket {
  /** Address and keys, for Litestream. */
  readonly options: S3Options;
  /** For objects of any size. */
  readonly client: S3Client;
  /** For small objects, with timeouts that fit the lease time. */
  readonly objects: SmallObjects;
  /** Of all keys: empty, or with a slash at its end. */
  readonly prefix: string;
}

/** Requests for the lease must fail early enough for another attempt within the lease time. */
const TIMEOUTS_PER_TTL = 3;

/** The configured replica; undefined if none is set. @throws StartupError if s3.* is incomplete */
export function openReplicaBucket({ s3, replica }: Pick<Config, "s3" | "replica">): ReplicaBucket | undefined {
  if (replica.url === null) return undefined;
  const store = readS3Options(s3);
  if (store === undefined) throw new StartupError("replica requires s3.endpoint and the access keys. Set s3.*.");
  const { bucket, prefix } = parseReplicaUrl(replica.url);
  const timeoutMs = Math.ceil(replica.leaseMs / TIMEOUTS_PER_TTL);
  const options = { ...store, bucket };
  return { options, client: new S3Client(options), objects: new SmallObjects(options, timeoutMs), prefix };
}
