/**
 * The answer to a HEAD: the headers that a GET would have, its Content-Length included (RFC 9110 §9.3.2).
 *
 * Elysia 1.4 answers a HEAD for a path with parameters by the route of the GET, reads to its end whatever that gives, and
 * tells what it counted. So the answer has a body that says its length and holds nothing.
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
