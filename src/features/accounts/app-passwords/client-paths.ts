/** The first segments of the addresses for WebDAV and sync programs. The programs expect exactly these names. */
const CLIENT_PATH = /^\/(?:dav|remote\.php|ocs|index\.php)(?:\/|$)/;

/**
 * Whether an address is for WebDAV and sync programs. Only there is `Authorization: Basic` read, and nothing else opens
 * these addresses: no token, no API key, no cookie.
 * @param path as sent, without the query
 */
export function isClientPath(path: string): boolean {
  return CLIENT_PATH.test(path);
}

/** The challenge of a 401 at these addresses (RFC 7617, section 2). */
export const BASIC_CHALLENGE = 'Basic realm="Larder", charset="UTF-8"';
