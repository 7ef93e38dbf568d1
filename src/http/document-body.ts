import { AppError } from "../errors.ts";
import { say } from "../translations/say.ts";
import { declaredBytes, readBody } from "./request-body.ts";

/** The maximum size of a body in JSON or XML. */
const DOCUMENT_BYTES_MAX = 1024 * 1024;

/**
 * Passes the buffers of a body in JSON or XML to `take`, one after the other.
 * @param format for the error message
 * @returns the size of the body
 * @throws AppError body_too_large above 1 MiB, before the body is read if it declares its size; body_timeout |
 *   rate_limited; what `take` throws
 */
export async function readDocument(
  request: Request,
  format: "JSON" | "XML",
  take: (bytes: Uint8Array) => Promise<void> | void,
): Promise<number> {
  const reject = () => {
    throw new AppError("body_too_large", say`The ${format} body is larger than 1 MiB. Send less data in one request.`, {
      limit: DOCUMENT_BYTES_MAX,
    });
  };
  if ((declaredBytes(request) ?? 0) > DOCUMENT_BYTES_MAX) reject();
  let sizeBytes = 0;
  await readBody(request, "small", (buffer) => {
    sizeBytes += buffer.length;
    if (sizeBytes > DOCUMENT_BYTES_MAX) reject();
    return take(buffer);
  });
  return sizeBytes;
}
