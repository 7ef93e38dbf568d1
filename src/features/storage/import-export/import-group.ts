import type { RemoteStoreService } from "../remote-store/service.ts";
import type { ReadFile } from "./import-rows.ts";
import type { SourceFolder } from "./source-walk.ts";

/** Files and folders that get their rows together. */
export interface ImportGroup {
  readonly folders: SourceFolder[];
  readonly files: ReadFile[];
  bytes: number;
}

/** An empty group. */
export function newGroup(): ImportGroup {
  return { folders: [], files: [], bytes: 0 };
}

/**
 * Sends the blobs of files to the bucket, if their rows may be written only then.
 * @returns records that the bucket has them; call it once the rows are committed
 */
export async function sendBlobs(
  files: readonly ReadFile[],
  remoteStore: Pick<RemoteStoreService, "sendNow"> | undefined,
): Promise<() => Promise<void>> {
  const written = files.flatMap(({ blob }) => (blob.method === "hashed" ? [] : [[blob.digest, blob] as const]));
  return (await remoteStore?.sendNow(new Map(written).values())) ?? (async () => {});
}
