/** Requests to services that the operator chose: their addresses may lie anywhere. */
import {
  RESPONSE_BYTES_MAX,
  OUTBOUND_TIMEOUT_MS,
  type OutboundResponse,
  OutboundError,
  type OutboundRequest,
} from "./outbound.ts";

/**
 * Sends one request, over a kept connection where there is one, and reads its answer to 64 KiB and 15 s at most.
 * Redirects are answers like others.
 * @throws OutboundError where there is no answer
 */
export async function askService(address: string, request: OutboundRequest): Promise<OutboundResponse> {
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
    // Only the code is told: the platform's message holds the address.
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
