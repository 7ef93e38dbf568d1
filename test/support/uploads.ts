// Uploads in chunks, as phones send them.
import type { ApiResponse, Client } from "./client.ts";
import { toBytes } from "./client.ts";
import { asObject } from "./openapi.ts";

/** One planned chunk. */
export interface PlannedChunk {
  index: number;
  start: number;
  /** Inclusive. */
  end: number;
  /** Path and query of its upload URL. */
  path: string;
}

/** The plan for one file from upload/init. */
export interface PlannedUpload {
  uploadId: string;
  /** Path and query of the URL for the whole file. */
  path: string;
  chunks: PlannedChunk[];
}

/** Sends POST upload/init for one file. Returns the response with any status. @param options uploadOptions */
export async function tryInit(
  client: Client,
  file: Record<string, unknown>,
  options: Record<string, unknown> = { chunkSize: 1024 },
): Promise<ApiResponse> {
  return client.post("/api/mobile/upload/init", {
    files: [{ localId: "1", name: "photo.bin", ...file }],
    uploadOptions: options,
  });
}

/** Reads the plan for one file from a response to upload/init. */
export function readPlan(response: ApiResponse, index = 0): PlannedUpload {
  const pathOf = (url: string) => {
    const { pathname, search } = new URL(url);
    return pathname + search;
  };
  const at = `data.files.${index}`;
  return {
    uploadId: response.string(`${at}.uploadId`),
    path: pathOf(response.string(`${at}.uploadUrl`)),
    chunks: response.list(`${at}.chunks`).map((chunk, position) => ({
      index: response.number(`${at}.chunks.${position}.index`),
      start: response.number(`${at}.chunks.${position}.start`),
      end: response.number(`${at}.chunks.${position}.end`),
      path: pathOf(String(asObject(chunk)?.["uploadUrl"])),
    })),
  };
}

/** Plans the upload of a file, which must succeed. */
export async function planUpload(
  client: Client,
  content: string | Uint8Array,
  file: Record<string, unknown> = {},
  options: Record<string, unknown> = { chunkSize: 1024 },
): Promise<PlannedUpload> {
  const response = await tryInit(client, { size: toBytes(content).length, ...file }, options);
  if (response.status !== 200) throw new Error(`upload/init failed: ${response.status} ${response.text}`);
  return readPlan(response);
}

/** Sends raw bytes by PUT to a URL of a plan, with the client's token if it has one. */
export async function putBytes(
  client: Client,
  path: string,
  bytes: Uint8Array | string,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return client.request("PUT", path, {
    body: toBytes(bytes),
    headers: { "content-type": "application/octet-stream", ...headers },
  });
}

/** Cuts the bytes of one chunk out of the content. */
export function sliceChunk(content: Uint8Array, chunk: PlannedChunk): Uint8Array {
  return content.slice(chunk.start, chunk.end + 1);
}

/** Sends the chunks with these indexes one after the other. Each must succeed. Default: all chunks. */
export async function sendChunks(
  client: Client,
  plan: PlannedUpload,
  content: Uint8Array,
  indexes = plan.chunks.map((chunk) => chunk.index),
): Promise<void> {
  for (const index of indexes) {
    const chunk = plan.chunks[index];
    if (chunk === undefined) throw new Error(`the plan has no chunk ${index}`);
    const response = await putBytes(client, chunk.path, sliceChunk(content, chunk));
    if (response.status !== 200) throw new Error(`chunk ${index} failed: ${response.status} ${response.text}`);
  }
}

/** Sends POST upload/complete. Returns the response with any status. */
export async function completeUpload(
  client: Client,
  uploadId: string,
  fields: Record<string, unknown> = {},
): Promise<ApiResponse> {
  return client.post("/api/mobile/upload/complete", { uploadId, ...fields });
}

/** Reads the state of an upload by GET. Returns the response with any status. */
export async function getUploadState(client: Client, uploadId: string): Promise<ApiResponse> {
  return client.get(`/api/mobile/upload/${uploadId}`);
}
