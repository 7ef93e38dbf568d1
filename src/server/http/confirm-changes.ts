/** Responses that acknowledge changes wait until the changes are safe. */
import type { DeclaredRoute } from "../../features/accounts/routing/declaration.ts";
import type { WriteFence } from "../../features/storage/replication/types.ts";

/** Methods that only read, by RFC 9110, RFC 4918 and RFC 5323. */
const READING = new Set(["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT", "SEARCH"]);
/** Rejections from which a client that repeats a request learns that its change was made already; 405 is that of MKCOL. */
const CONFIRMING = new Set([404, 405, 409, 410, 412]);

/** Whether the responses of a route acknowledge changes. */
export function acknowledges(route: DeclaredRoute | undefined, method: string): boolean {
  return route !== undefined && (route.declaration.acknowledges ?? !READING.has(method));
}

/** Dependencies of {@link confirmChanges}. */
interface ConfirmOptions {
  readonly fence: WriteFence;
  /** Whether the response to a request acknowledges a change. */
  readonly mayChange: (request: Request) => boolean;
  /** The response if a change could not be confirmed. */
  readonly respondInstead: (request: Request, error: unknown) => Response;
}

/**
 * Delays responses until the changes that they acknowledge are confirmed.
 * @returns a function from a request and its pending response to the response to be sent
 */
export function confirmChanges({ fence, mayChange, respondInstead }: ConfirmOptions) {
  const confirm = async (request: Request, pending: Response | Promise<Response>): Promise<Response> => {
    const response = await pending;
    if (response.status >= 400 && !CONFIRMING.has(response.status)) return response;
    try {
      await fence.confirm();
      return response;
    } catch (error) {
      await response.body?.cancel();
      return respondInstead(request, error);
    }
  };
  return (request: Request, response: Response | Promise<Response>): Response | Promise<Response> =>
    mayChange(request) ? confirm(request, response) : response;
}
