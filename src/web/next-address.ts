/**
 * Where to go after a sign-in: a path of the web app, never another address.
 * @param next the query parameter of the sign-in page: a path below the base path, with query and fragment
 * @returns `/` for anything that is not clearly a path: other origins (`//host`, `/\host`), schemes, the sign-in
 * page
 */
export function safeNext(next: string | undefined): `/${string}` {
  if (next === undefined || !isOwnPath(next)) return START;
  const { origin, pathname, search, hash } = new URL(next, ANYWHERE);
  const isHere = origin === ANYWHERE && !/^\/(sign-in|sign-up)(\/|$)/.test(pathname) && isOwnPath(pathname);
  return isHere ? `/${pathname.slice(1)}${search}${hash}` : START;
}

/** The page that the person chose to start with. */
const START = "/";
const ANYWHERE = "http://here.invalid";

/** Browsers treat a backslash as a slash, and drop control characters. */
function isOwnPath(path: string): path is `/${string}` {
  return /^\/(?![/\\])/.test(path) && !/[\\\p{Cc}]/u.test(path);
}
