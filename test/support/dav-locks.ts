// Locks of WebDAV clients.
import type { ApiResponse } from "./client.ts";
import type { DavClient } from "./webdav.ts";

/** The body of a request for a lock. */
export function lockInfo(scope: "exclusive" | "shared" = "exclusive", owner = "test"): string {
  return (
    '<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:">' +
    `<D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>${owner}</D:owner></D:lockinfo>`
  );
}

/** Sends LOCK. Returns the response with any status. */
export function tryLock(
  dav: DavClient,
  path: string,
  headers: Record<string, string> = { depth: "0" },
  body = lockInfo(),
): Promise<ApiResponse> {
  return dav.request("LOCK", path, { body, headers: { "content-type": "application/xml", ...headers } });
}

/** Locks an item, which must succeed. @returns the token */
export async function lock(
  dav: DavClient,
  path: string,
  headers?: Record<string, string>,
  body?: string,
): Promise<string> {
  const response = await tryLock(dav, path, headers, body);
  if (response.status !== 200) throw new Error(`locking failed: ${response.status} ${response.text}`);
  return /^<(.+)>$/.exec(response.header("lock-token"))?.[1] ?? "";
}

/** Sends UNLOCK. Returns the response with any status. */
export function unlock(dav: DavClient, path: string, token: string): Promise<ApiResponse> {
  return dav.request("UNLOCK", path, { headers: { "lock-token": `<${token}>` } });
}
