/** Requests to services that the operator configured: their addresses may be private. */
import { RESPONSE_BYTES_MAX, OUTBOUND_TIMEOUT_MS, type OutboundResponse, type OutboundRequest } from "./outbound.ts";
import { OutboundError } from "./outbound-error.ts";

/**
 * Sends one request, over a pooled connection if there is one. The response is limited to 64 KiB and 15 s, and
 * redirects are not followed.
 * @throws OutboundError if there is no response
 */
export async function sendToService(address: string, request: OutboundRequest): Promise<OutboundResponse> {
  const timeout = AbortSignal.timeout(OUTBOUND_TIMEOUT_MS);
  const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal]);
  try {
    const response = await fetch(address, {
      method: request.method,
      headers: { ...request.headers },
      ...(request.body !== undefined && { body: new Uint8Array(request.body) }),
      redirect: "manual",
      signal,
    });
    return {
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      body: await readStart(response),
    };
  } catch (error) {
    if (request.signal?.aborted) throw new OutboundError("aborted", "the request was canceled");
    if (timeout.aborted) throw new OutboundError("timeout", `no complete response within ${OUTBOUND_TIMEOUT_MS} ms`);
    // Use only the code: the platform's message contains the address.
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown cause";
    throw new OutboundError("unreachable", `no connection (${code})`);
  }
}

async function readStart(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  // Leaving the loop early cancels the body.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    sizeBytes += chunk.byteLength;
    if (sizeBytes >= RESPONSE_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX);
}
