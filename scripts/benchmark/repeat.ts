/**
 * Sends one request again and again, and discards the responses. For background load whose responses have no
 * Content-Length.
 *
 * Usage: bun repeat.ts MILLISECONDS METHOD URL AUTHORIZATION
 */
import { argv, exit } from "node:process";

async function repeat(milliseconds: number, method: string, url: string, authorization: string): Promise<void> {
  const until = performance.now() + milliseconds;
  while (performance.now() < until) {
    const response = await fetch(url, { method, headers: { Authorization: authorization, Depth: "1" } });
    if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${await response.text()}`);
    for await (const _ of response.body ?? []) if (performance.now() > until) break;
  }
}

const [milliseconds, method = "GET", url = "", authorization = ""] = argv.slice(2);
await repeat(Number(milliseconds), method, url, authorization);
exit(0);
