/**
 * The response to a HEAD: the headers of the GET, including Content-Length (RFC 9110 §9.3.2).
 *
 * For a HEAD, Elysia 1.4 calls the route of the GET, reads the body to its end, and sends its length. So this response
 * has a body that reports a length but has no bytes.
 */
export function headResponse(headers: Record<string, string>, lengthBytes: number): Response {
  const response = new Response(null, { status: 200, headers: { ...headers, "content-length": String(lengthBytes) } });
  let isRead = false;
  const read = async () => {
    if (isRead) return { done: true };
    isRead = true;
    return { done: false, value: { byteLength: lengthBytes } };
  };
  return Object.defineProperty(response, "body", { value: { getReader: () => ({ read }) } });
}
