import { S3Error } from "../../../blobs/s3/error.ts";
import type { SmallObjects } from "../../../blobs/s3/small-objects.ts";
import { StartupError } from "../../../config/startup-error.ts";

/**
 * How many requests compete for one key. Some services check the condition and write in two steps: one request after
 * another is rejected correctly, but several at once succeed, as in SeaweedFS 4.16.
 */
const WRITERS = 8;

/**
 * Checks that the service creates an object only if its key is missing, also for one of several requests at once. Without
 * that, two servers could own the store at once. Leaves nothing behind.
 * @param objects a client with short timeouts
 * @param prefix of all keys of the replica
 * @throws StartupError with what the service did instead; S3Error if it is unreachable
 */
export async function probeConditions(
  objects: Pick<SmallObjects, "write" | "createOnce" | "remove">,
  prefix: string,
): Promise<void> {
  const key = `${prefix}probe/${crypto.randomUUID()}`;
  await objects.write(key, "1");
  try {
    if ((await objects.createOnce(key, "2")) === "created") throw unusable("It replaced the object.");
    await objects.remove(key);
    await probeRace(objects, key);
  } catch (error) {
    if (!(error instanceof S3Error) || error.problem === "unreachable") throw error;
    throw unusable(error.message);
  } finally {
    // One that can't be removed now is harmless: nothing reads it.
    await objects.remove(key).catch((error: unknown) => {
      if (!(error instanceof S3Error)) throw error;
    });
  }
}

async function probeRace(objects: Pick<SmallObjects, "createOnce">, key: string): Promise<void> {
  const attempts = Array.from({ length: WRITERS }, (_, index) => objects.createOnce(key, String(index)));
  // A service may also reject the losers with another status, or be slow: only two winners are proof.
  const winners = (await Promise.allSettled(attempts)).filter(
    (attempt) => attempt.status === "fulfilled" && attempt.value === "created",
  );
  if (winners.length > 1)
    throw unusable(`Of ${WRITERS} such requests at once for a new key, ${winners.length} succeeded.`);
}

function unusable(what: string): StartupError {
  return new StartupError(
    "The service of the replica can't make sure that only one server writes: it must reject a PUT with If-None-Match: * " +
      `on an existing key with status 412. ${what} Services that can: Amazon S3, Ceph, MinIO. ` +
      "OpenStack Swift can't. Without a replica, Larder works with this service.",
  );
}
