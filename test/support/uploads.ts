// Uploads in chunks as a phone makes them.
import type { ApiResponse, Client } from "./client.ts";
import { toBytes } from "./client.ts";
import { asObject } from "./openapi.ts";

/** One chunk of a plan. */
export interface PlannedChunk {
  index: number;
  start: number;
  /** Inclusive. */
  end: number;
  /** Path and query of its address. */
  path: string;
}

/** A file as upload/init planned it. */
export interface PlannedUpload {
  uploadId: string;
  /** Path and query of the address that takes the whole file. */
  path: string;
  chunks: PlannedChunk[];
}

/** POST upload/init for one file, whatever it answers. @param options uploadOptions */
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

/** The plan of one file of an answer to upload/init. */
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

/** Plans a file, which must succeed. */
export async function planUpload(
  client: Client,
  content: string | Uint8Array,
  file: Record<string, unknown> = {},
  options: Record<string, unknown> = { chunkSize: 1024 },
): Promise<PlannedUpload> {
  const response = await tryInit(client, { size: toBytes(content).length, ...file }, options);
  if (response.status !== 200) throw new Error(`init refused: ${response.status} ${response.text}`);
  return readPlan(response);
}

/** PUT of raw bytes to an address of a plan. The client's token goes along, if it has one. */
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

/** The bytes of one chunk. */
export function sliceChunk(content: Uint8Array, chunk: PlannedChunk): Uint8Array {
  return content.slice(chunk.start, chunk.end + 1);
}

/** Sends the chunks with these indexes (all of them by default), one after the other; each must be taken. */
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
    if (response.status !== 200) throw new Error(`chunk ${index} refused: ${response.status} ${response.text}`);
  }
}

/** POST upload/complete, whatever it answers. */
export async function completeUpload(
  client: Client,
  uploadId: string,
  fields: Record<string, unknown> = {},
): Promise<ApiResponse> {
  return client.post("/api/mobile/upload/complete", { uploadId, ...fields });
}

/** GET of an upload's state, whatever it answers. */
export async function getUploadState(client: Client, uploadId: string): Promise<ApiResponse> {
  return client.get(`/api/mobile/upload/${uploadId}`);
}
