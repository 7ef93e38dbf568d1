import { errorItem } from "../../../http/error-response.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { spanOf } from "./chunk-plan.ts";
import type { UploadScope } from "./signatures.ts";
import type { PlannedSession, Upload, UploadProgress } from "./types.ts";

/** Returns the signature of an address. */
export type Sign = (upload: Upload, scope: UploadScope) => string;

/** Addresses signed before yielding: about 5 ms. */
const ADDRESSES_PER_TURN = 1_000;

/** An upload session. Yields to the event loop if there are many chunks. */
export async function presentSession(session: PlannedSession, request: Request, sign: Sign) {
  const files = [];
  const { baseUrl } = requestContextOf(request);
  let addresses = 0;
  for (const file of session.files) {
    if ("error" in file) files.push({ localId: file.localId, error: errorItem(file.error, request) });
    else files.push(presentPlanned(file, baseUrl, sign));
    addresses += "upload" in file ? file.upload.totalChunks : 1;
    if (addresses < ADDRESSES_PER_TURN) continue;
    addresses = 0;
    await new Promise(setImmediate);
  }
  const { wifiOnly, chunkSizeBytes: chunkSize, maxRetries, isAutomatic: automatic } = session.options;
  return {
    uploadSession: session.publicId,
    files,
    expiresAt: toTimestamp(session.expiresAtMs),
    uploadOptions: { wifiOnly, chunkSize, maxRetries, automatic },
  };
}

function presentPlanned(
  file: Extract<PlannedSession["files"][number], { upload: Upload }>,
  baseUrl: string,
  sign: Sign,
) {
  const { localId, upload, completedChunks, isAlreadyStored } = file;
  const { publicId: uploadId, totalChunks, chunkSizeBytes: chunkSize } = upload;
  const base = `${baseUrl}/api/mobile/upload/${uploadId}`;
  const chunks = Array.from({ length: totalChunks }, (_, index) => {
    const { offset = 0, lengthBytes = 0 } = spanOf(upload, index) ?? {};
    const uploadUrl = `${base}/chunks/${index}?sig=${sign(upload, index)}`;
    return { index, start: offset, end: offset + lengthBytes - 1, uploadUrl };
  });
  const uploadUrl = `${base}/content?sig=${sign(upload, "whole")}`;
  return {
    localId,
    uploadId,
    uploadUrl,
    chunks,
    totalChunks,
    chunkSize,
    ...(completedChunks.length > 0 && { completedChunks }),
    alreadyStored: isAlreadyStored,
  };
}

/** The state of an upload on the server. */
export function presentProgress({ upload, status, completedChunks, missingChunks, bytesUploaded }: UploadProgress) {
  const { publicId: uploadId, sizeBytes: totalBytes, totalChunks, fileId } = upload;
  const share = totalBytes === 0 ? (status === "completed" ? 1 : 0) : bytesUploaded / totalBytes;
  return {
    uploadId,
    status,
    completedChunks,
    missingChunks,
    bytesUploaded,
    totalBytes,
    totalChunks,
    // Rounded down, so that 100 means that nothing is missing.
    percentage: Math.floor(share * 10_000) / 100,
    expiresAt: toTimestamp(upload.expiresAtMs),
    ...(fileId !== undefined && { fileId }),
  };
}
