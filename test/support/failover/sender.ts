// Sends requests to machines that may be frozen, cut off or dead. Every request has an end.
import { ApiResponse } from "../client.ts";
import type { ClusterNode } from "./cluster-node.ts";
import type { FailoverLedger, RequestResult } from "./ledger.ts";

/** After this time, a request counts as unanswered. */
export const REQUEST_MS_MAX = 6_000;

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  /** The value of Authorization. */
  readonly authorization?: string | undefined;
  readonly json?: unknown;
  readonly body?: Uint8Array<ArrayBuffer> | FormData;
  readonly type?: string;
}

/** Sends a request. @returns undefined if there was no complete response in time */
export async function send(node: ClusterNode, request: SentRequest): Promise<ApiResponse | undefined> {
  const headers = new Headers();
  if (request.authorization !== undefined) headers.set("authorization", request.authorization);
  const body = request.json === undefined ? request.body : JSON.stringify(request.json);
  const type = request.json === undefined ? request.type : "application/json";
  if (type !== undefined) headers.set("content-type", type);
  try {
    const response = await fetch(node.url + request.path, {
      method: request.method,
      headers,
      redirect: "manual",
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
      ...(body === undefined ? {} : { body }),
    });
    return new ApiResponse(response.status, response.headers, new Uint8Array(await response.arrayBuffer()));
  } catch {
    return undefined;
  }
}

/** Sends a request that changes something, and records it. */
export async function sendChange(
  ledger: FailoverLedger,
  node: ClusterNode,
  what: string,
  request: SentRequest,
): Promise<{ result: RequestResult; response: ApiResponse | undefined }> {
  const server = node.current?.name ?? node.name;
  const sentMs = performance.now();
  const response = await send(node, request);
  const result = resultOf(response);
  ledger.record({ server, what, sentMs, respondedMs: performance.now(), result });
  return { result, response };
}

function resultOf(response: ApiResponse | undefined): RequestResult {
  if (response === undefined) return { kind: "unanswered" };
  const { status } = response;
  return status < 300 ? { kind: "acknowledged", status } : { kind: "rejected", status };
}
