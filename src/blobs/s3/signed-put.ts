/** How long a signed URL is valid. It includes the difference of the clocks that services accept. */
const URL_SECONDS = 1_800;

/** Bun's message if the service sent none: the connection broke, or the response has no body. */
export const NO_MESSAGE = "an unexpected error has occurred";

/** A failed request, in the form in which Bun's client reports one. */
class RequestError extends Error {
  override readonly name = "S3Error";
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/**
 * Writes an object by a plain request to a URL that Bun has signed, because Bun's client does not return the ETag of the
 * response, and another request for it costs a round trip.
 * @returns the ETag without quotes; empty if the service sent none
 * @throws an error like those of Bun's client
 */
export async function putSigned(
  bucket: Bun.S3Client,
  key: string,
  { bytes, type, timeoutMs }: { bytes: Uint8Array<ArrayBuffer>; type: string; timeoutMs: number },
): Promise<string> {
  const url = bucket.presign(key, { method: "PUT", expiresIn: URL_SECONDS });
  const response = await send(url, {
    method: "PUT",
    body: bytes,
    headers: { "content-type": type },
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.ok) return (response.headers.get("etag") ?? "").replaceAll('"', "");
  const text = await response.text();
  const [, code] = /<Code>([^<]{1,100})<\/Code>/.exec(text) ?? [];
  const [, message] = /<Message>([^<]{1,1000})<\/Message>/.exec(text) ?? [];
  const { status } = response;
  throw new RequestError(
    message ?? text,
    code ?? (status < 500 ? `status ${status}` : `Unavailable, status ${status}`),
  );
}

async function send(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    throw new RequestError(NO_MESSAGE, code, error);
  }
}
