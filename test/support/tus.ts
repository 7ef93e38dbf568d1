// Uploads by tus: raw requests for what no correct client sends, and tus-js-client for what clients do.
import { Upload, type UploadOptions } from "tus-js-client";
import type { ApiResponse, Client } from "./client.ts";
import { toBytes } from "./client.ts";

/** The protocol version, which every request except OPTIONS sends. */
export const tusVersion = { "tus-resumable": "1.0.0" };

/** The value of an Upload-Metadata header. */
export function tusMetadata(pairs: Record<string, string>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`)
    .join(",");
}

/**
 * Sends the POST that creates an upload. Returns the response with any status.
 * @param home /api/tus, or that of a drop box
 */
export async function tryCreateTus(
  client: Client,
  headers: Record<string, string>,
  metadata: Record<string, string> = {},
  { home = "/api/tus", bytes }: { home?: string; bytes?: string | Uint8Array } = {},
): Promise<ApiResponse> {
  return client.request("POST", home, {
    headers: {
      ...tusVersion,
      ...(Object.keys(metadata).length > 0 && { "upload-metadata": tusMetadata(metadata) }),
      ...(bytes !== undefined && { "content-type": "application/offset+octet-stream" }),
      ...headers,
    },
    ...(bytes !== undefined && { body: toBytes(bytes) }),
  });
}

/** Creates an upload of this length, which must succeed. @returns its path */
export async function createTus(
  client: Client,
  length: number,
  metadata: Record<string, string> = {},
  options: { home?: string; headers?: Record<string, string> } = {},
): Promise<string> {
  const { headers, ...rest } = options;
  const response = await tryCreateTus(client, { "upload-length": String(length), ...headers }, metadata, rest);
  if (response.status !== 201) throw new Error(`creating the upload failed: ${response.status} ${response.text}`);
  return response.header("location");
}

/** Sends bytes by PATCH. */
export async function appendTus(
  client: Client,
  path: string,
  offset: number,
  bytes: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return client.request("PATCH", path, {
    headers: {
      ...tusVersion,
      "content-type": "application/offset+octet-stream",
      "upload-offset": String(offset),
      ...headers,
    },
    body: toBytes(bytes),
  });
}

/** Sends HEAD. */
export async function headTus(
  client: Client,
  path: string,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return client.head(path, { ...tusVersion, ...headers });
}

/** Reads the offset of an upload, which must exist. */
export async function readOffset(client: Client, path: string): Promise<number> {
  const response = await headTus(client, path);
  if (response.status !== 200) throw new Error(`no such upload: ${response.status}`);
  return Number(response.header("upload-offset"));
}

/** The result of an upload by tus-js-client. */
export interface SentUpload {
  url: string;
  fileId: string | undefined;
}

/** Uploads by tus-js-client. @throws the client's error when it gives up */
export async function sendByClient(
  client: Client,
  content: Uint8Array,
  options: Partial<UploadOptions> = {},
): Promise<SentUpload> {
  const { promise, resolve, reject } = Promise.withResolvers<SentUpload>();
  const upload = createClientUpload(client, content, {
    ...options,
    onError: reject,
    onSuccess: ({ lastResponse }) =>
      resolve({ url: upload.url ?? "", fileId: lastResponse.getHeader("Larder-File-Id") }),
  });
  upload.start();
  return promise;
}

/** Creates an upload for tus-js-client that is not started yet. */
export function createClientUpload(client: Client, content: Uint8Array, options: Partial<UploadOptions>): Upload {
  return new Upload(Buffer.from(content), {
    endpoint: `${client.target.url}/api/tus`,
    headers: client.token === undefined ? {} : { authorization: `Bearer ${client.token}` },
    // Bytes of an interrupted request may arrive between two others. Clients then retry.
    retryDelays: [100, 300, 1_000, 3_000, 10_000],
    ...options,
  });
}
