import { AppError } from "../../errors.ts";
import { errorResponseOf, errorText, UNEXPECTED } from "../../http/error-response.ts";
import { requestContextOf } from "../../http/request-context.ts";
import { BASIC_CHALLENGE, isClientPath } from "../accounts/app-passwords/client-paths.ts";
import { clientErrorXml, clientStatusOf } from "./errors.ts";

/** Seconds after which a client may repeat a request that was rejected with 503. */
const RETRY_AFTER_S = 30;

/**
 * The response to an error at an address for WebDAV and sync clients: XML, with the statuses of WebDAV. Undefined for
 * other addresses.
 */
export function renderClientError(request: Request, error: unknown): Response | undefined {
  const { path, requestId } = requestContextOf(request);
  if (!isClientPath(path)) return undefined;
  const { headers } = errorResponseOf(error, requestId);
  const known = error instanceof AppError ? error : new AppError("unexpected", UNEXPECTED);
  const status = clientStatusOf(known);
  return new Response(clientErrorXml(known, errorText(known, request)), {
    status,
    headers: {
      ...headers,
      "Content-Type": "application/xml; charset=utf-8",
      ...(status === 401 && { "WWW-Authenticate": BASIC_CHALLENGE }),
      ...(status === 503 && { "Retry-After": headers["Retry-After"] ?? String(RETRY_AFTER_S) }),
    },
  });
}
