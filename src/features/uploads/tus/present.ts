import { toChecksum } from "../../../blobs/digest.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { type PresentContext, presentUploaded } from "../../library/files/present.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { isOpen } from "../chunked/store.ts";
import { readMetadata } from "./metadata.ts";
import type { TusProgress } from "./service.ts";

function presentProgress({ tus, offsetBytes }: TusProgress) {
  const { upload, kind, lengthBytes, metadata } = tus;
  const isInProgress = isOpen(upload);
  return {
    id: upload.publicId,
    state: isInProgress ? ("receiving" as const) : ("complete" as const),
    kind,
    name: readMetadata(metadata).name,
    offset: offsetBytes,
    length: lengthBytes ?? null,
    expiresAt: isInProgress ? toTimestamp(upload.expiresAtMs) : null,
  };
}

/** An upload of an account. @param file the created file, if it still exists */
export function presentTus(progress: TusProgress, file: FileNode | undefined, context: PresentContext) {
  return {
    ...presentProgress(progress),
    // The name that the sender used; the owner of a share may have renamed the file.
    folder: readMetadata(progress.tus.metadata).fields.folderPath,
    file: file === undefined ? null : presentUploaded(file, context),
  };
}

/** An upload of a guest. It reveals nothing about the folder, not even whether the name was free. */
export function presentGuestTus(progress: TusProgress) {
  const { file, tus } = progress;
  const { name } = readMetadata(tus.metadata);
  return {
    ...presentProgress(progress),
    file: file === undefined ? null : { name, size: file.sizeBytes, checksum: toChecksum(file.digest) },
  };
}

/** The headers with the state of an upload. @param addressOf the address of an upload, as clients request it */
export function tusHeadersOf(
  { tus, offsetBytes }: TusProgress,
  addressOf: (publicId: string) => string,
): Record<string, string> {
  const { upload, kind, parts, lengthBytes, metadata } = tus;
  return {
    "upload-offset": String(offsetBytes),
    ...(lengthBytes === undefined ? { "upload-defer-length": "1" } : { "upload-length": String(lengthBytes) }),
    ...(metadata !== "" && { "upload-metadata": metadata }),
    ...(kind === "partial" && { "upload-concat": "partial" }),
    ...(kind === "final" && { "upload-concat": `final;${parts.map(addressOf).join(" ")}` }),
    ...(isOpen(upload) && { "upload-expires": new Date(upload.expiresAtMs).toUTCString() }),
  };
}
