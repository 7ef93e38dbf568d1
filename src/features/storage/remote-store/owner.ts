/**
 * The owner of the bucket. A copy of a data directory uses the same bucket as its original. It may read and add
 * objects, but deleted ones would be missing to the original. So the bucket names one database as its owner, and only
 * that deletes objects.
 */
import { type S3Client, toBody } from "../../../blobs/s3/client.ts";
import { S3Error } from "../../../blobs/s3/error.ts";
import type { SmallObjects } from "../../../blobs/s3/small-objects.ts";

/** A store, and one of its databases: copies and restored snapshots are databases of the same store. */
export interface Owner {
  readonly store: string;
  /** Changes whenever a database continues from a snapshot or a copy. */
  readonly epoch: string;
  /** Identifies the data directory: a copy of a stopped server has the same epoch. Null in markers of older versions. */
  readonly directory: string | null;
}

/** Whether this database, another database of this store, or another store owns the bucket. */
export type Ownership = "ours" | "copy" | "foreign";

/** The clients of the bucket. */
interface MarkerClients {
  readonly client: S3Client;
  readonly objects: Pick<SmallObjects, "createOnce">;
}

/** The key, after the prefix, of the object that names the owner of the bucket. */
export const MARKER = "larder-store.json";

/**
 * Reads the owner of the bucket; one without an owner becomes ours. Of two servers that find it free at the same time, one
 * becomes the owner, if the service can create objects only once; otherwise the last one, and the other learns it at its
 * next check.
 * @throws S3Error
 */
export async function claimIfFree(clients: MarkerClients, prefix: string, own: Owner): Promise<Ownership> {
  const { client } = clients;
  for (;;) {
    const bytes = await client.getSmall(prefix + MARKER);
    if (bytes !== undefined) return await compare(client, prefix, own, parseOwner(bytes));
    if (await create(clients, prefix, own)) return "ours";
  }
}

async function compare(client: S3Client, prefix: string, own: Owner, owner: Owner | undefined): Promise<Ownership> {
  if (owner?.store !== own.store) return "foreign";
  if (owner.epoch !== own.epoch) return "copy";
  // An older version has written the marker.
  if (owner.directory === null) await claim(client, prefix, own);
  return owner.directory === null || owner.directory === own.directory ? "ours" : "copy";
}

/** @returns whether this server created the marker */
async function create({ client, objects }: MarkerClients, prefix: string, own: Owner): Promise<boolean> {
  try {
    return (await objects.createOnce(prefix + MARKER, markerText(own))) === "created";
  } catch (error) {
    if (!(error instanceof S3Error) || error.problem !== "refused" || error.code !== "NotImplemented") throw error;
    await claim(client, prefix, own);
    return true;
  }
}

/**
 * The owner of the bucket; undefined if it has none, "unreadable" if the object is not an owner marker.
 * @throws S3Error
 */
export async function findOwner(client: S3Client, prefix: string): Promise<Owner | "unreadable" | undefined> {
  const bytes = await client.getSmall(prefix + MARKER);
  return bytes === undefined ? undefined : (parseOwner(bytes) ?? "unreadable");
}

/** Makes this database the owner. @throws S3Error */
export async function claim(client: S3Client, prefix: string, own: Owner): Promise<void> {
  await client.put(prefix + MARKER, toBody(new TextEncoder().encode(markerText(own))));
}

function markerText(own: Owner): string {
  return `${JSON.stringify(own)}\n`;
}

/** Why a bucket of another store can't be used. */
export function foreignBucket(bucket: string, prefix: string): S3Error {
  return new S3Error(
    "refused",
    `The bucket "${bucket}" has the data of another server under "${prefix}". Set another s3.prefix or s3.bucket.`,
  );
}

function parseOwner(bytes: Uint8Array): Owner | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const isOwner = typeof value === "object" && value !== null && "store" in value && "epoch" in value;
    if (!isOwner || typeof value.store !== "string" || typeof value.epoch !== "string") return undefined;
    const directory = "directory" in value && typeof value.directory === "string" ? value.directory : null;
    return { store: value.store, epoch: value.epoch, directory };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
