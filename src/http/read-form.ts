import { AppError } from "../errors.ts";
import { say } from "../translations/say.ts";
import { readBody } from "./request-body.ts";

const FORM_BYTES_MAX = 64 * 1024;

/**
 * Reads the fields of a form of a page (application/x-www-form-urlencoded), as browsers send it without script.
 * @param bytesMax default 64 KiB
 * @throws AppError body_too_large | body_timeout | rate_limited; ClientGoneError
 */
export async function readForm(request: Request, bytesMax = FORM_BYTES_MAX): Promise<URLSearchParams> {
  const buffers: Uint8Array[] = [];
  let sizeBytes = 0;
  await readBody(request, "small", (buffer) => {
    sizeBytes += buffer.length;
    if (sizeBytes > bytesMax) throw new AppError("body_too_large", say`The form is too large. Send less data.`);
    buffers.push(buffer.slice());
  });
  return new URLSearchParams(Buffer.concat(buffers).toString("utf8"));
}
