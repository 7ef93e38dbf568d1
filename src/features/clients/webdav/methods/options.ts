/** The methods of WebDAV, for the header Allow. */
export const ALLOWED_METHODS =
  "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH, REPORT, LOCK, UNLOCK";

/** OPTIONS, also without a sign-in: Windows asks for the root of the server first. */
export function options(): Response {
  return new Response(null, {
    status: 200,
    headers: {
      DAV: "1, 2, 3",
      "MS-Author-Via": "DAV",
      Allow: ALLOWED_METHODS,
      "Accept-Ranges": "bytes",
      "Content-Length": "0",
    },
  });
}
