/**
 * Where to go after a sign-in: a path of this application, never an address elsewhere.
 * @param next as the address bar has it, below the base path
 * @returns `/files` for whatever isn't plainly a path: other origins (`//host`, `/\host`), schemes, the sign-in itself
 */
export function safeNext(next: string | undefined): `/${string}` {
  if (next === undefined || !isOwnPath(next)) return START;
  const { origin, pathname, search, hash } = new URL(next, ANYWHERE);
  const isHere = origin === ANYWHERE && !/^\/(sign-in|sign-up)(\/|$)/.test(pathname) && isOwnPath(pathname);
  return isHere ? `/${pathname.slice(1)}${search}${hash}` : START;
}

const START = "/files";
const ANYWHERE = "http://here.invalid";

/** A backslash and a control character are a slash and nothing to a browser. */
function isOwnPath(path: string): path is `/${string}` {
  return /^\/(?![/\\])/.test(path) && !/[\\\p{Cc}]/u.test(path);
}
