/** What `larder doctor` sees at the address that people use: the name, the certificate, the proxy, the server. */
import * as http from "node:http";
import * as https from "node:https";
import { connect } from "node:tls";
import { EXPIRY_WARNING_MS } from "../../server/net/tls.ts";
import { PASS_HEADER, type PublicView } from "../../server/http/public-view.ts";

/** What was seen. */
export interface Seen {
  readonly state: "ok" | "note" | "wrong";
  readonly text: string;
}

const TIMEOUT_MS = 10_000;
const HOPS_MAX = 5;
const BODY_BYTES_MAX = 64 * 1024;

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

/**
 * Asks the server at its public address for itself, and says what answers.
 * @param publicUrl without a slash at the end
 * @param pass by which the server knows that it may tell
 */
export async function lookAtPublicAddress(publicUrl: string, pass: string): Promise<Seen[]> {
  const seen: Seen[] = [];
  let url = new URL(`${publicUrl}/health/live`);
  const visited: string[] = [];
  for (;;) {
    if (url.protocol === "https:") seen.push(...(await lookAtCertificate(url)));
    if (seen.some(({ state }) => state === "wrong")) return seen;
    const answer = await ask(url, pass);
    if (typeof answer === "string") return [...seen, notReached(url, answer)];
    visited.push(url.href);
    const { location } = answer;
    if (location === undefined || answer.status < 300 || answer.status > 399) {
      return [...seen, ...(visited.length > 1 ? [wasLed(visited)] : []), ...judge(publicUrl, url, answer)];
    }
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next === undefined || !next.protocol.startsWith("http")) {
      return [...seen, wrong(`${url.href} redirects to ${JSON.stringify(location)}, which is not a web address.`)];
    }
    if (visited.includes(next.href) || visited.length === HOPS_MAX) {
      return [
        ...seen,
        wrong(
          `Redirect loop: ${visited.join(" redirects to ")}. Usually two proxies, or a proxy and tls.redirectPort, both ` +
            "redirect HTTP to HTTPS while the outer proxy connects to the inner one over HTTP.",
        ),
      ];
    }
    url = next;
  }
}

function judge(publicUrl: string, url: URL, { status, body }: Answer): Seen[] {
  const told = readBody(body);
  if (status !== 200 || told["status"] !== "live") {
    return [wrong(`Another service responds at ${url.href} (status ${status}). Check the target of the proxy.`)];
  }
  const view = told["seen"];
  if (!isView(view)) {
    return [
      wrong(
        `A Larder server with another data directory responds at ${url.href}, or a proxy removes the header ` +
          `${PASS_HEADER}. Check the target of the proxy.`,
      ),
    ];
  }
  return [...judgeForwarding(view), ...judgeOrigin(publicUrl, view)];
}

function judgeForwarding({ client, peer, isForwarded, isTrusted }: PublicView): Seen[] {
  if (isForwarded && !isTrusted) {
    return [
      wrong(
        `The proxy at ${peer} is not trusted: all its users count as one client, and cookies are not Secure. ` +
          `Set trustedProxies to ${peer}.`,
      ),
    ];
  }
  if (isForwarded) return [ok(`This server responds through the proxy at ${peer} and sees this machine as ${client}.`)];
  return [
    ok(
      `This server responds and sees this machine as ${client}. No proxy headers were received. If there is a proxy, let ` +
        "it send X-Forwarded-For and X-Forwarded-Proto.",
    ),
  ];
}

function judgeOrigin(publicUrl: string, { origin }: PublicView): Seen[] {
  const wanted = new URL(publicUrl).origin;
  if (origin === null || origin === wanted) return [];
  return [
    note(
      `The public address is ${wanted}, but requests arrive for ${origin}. Let the proxy forward Host and X-Forwarded-Proto.`,
    ),
  ];
}

async function lookAtCertificate(url: URL): Promise<Seen[]> {
  const result = await certificateOf(url);
  // What keeps the connection itself from being made is told by the request that follows.
  if (result === undefined) return [];
  const { endsMs, fault } = result;
  const day = Number.isNaN(endsMs) ? "an unknown date" : new Date(endsMs).toISOString().slice(0, 10);
  if (fault !== undefined) {
    return [wrong(`Clients reject the certificate of ${url.host}: ${fault}. It expires on ${day}.`)];
  }
  if (endsMs - Date.now() > EXPIRY_WARNING_MS) return [ok(`The certificate of ${url.host} is valid until ${day}.`)];
  return [note(`The certificate of ${url.host} expires on ${day}. Renew it.`)];
}

/** When the certificate ends, and what is wrong with it; undefined where there was no connection. */
function certificateOf({ hostname, port }: URL): Promise<{ endsMs: number; fault: string | undefined } | undefined> {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return new Promise((resolve) => {
    const isName = !/^[\d.]+$|:/.test(host);
    const socket = connect(
      { host, port: Number(port || 443), rejectUnauthorized: false, ...(isName && { servername: host }) },
      () => {
        const endsMs = Date.parse(socket.getPeerCertificate().valid_to);
        const fault = socket.authorized ? undefined : String(socket.authorizationError);
        socket.destroy();
        resolve({ endsMs, fault });
      },
    );
    socket.setTimeout(TIMEOUT_MS, () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on("error", () => resolve(undefined));
  });
}

/** The answer, or what kept it from coming. By node:http, which follows no proxy of the environment. */
function ask(url: URL, pass: string): Promise<Answer | string> {
  return new Promise((resolve) => {
    const headers = { [PASS_HEADER]: pass, accept: "application/json" };
    const get = url.protocol === "https:" ? https.get : http.get;
    const request = get(url, { timeout: TIMEOUT_MS, agent: false, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        body += piece;
        if (body.length > BODY_BYTES_MAX) response.destroy();
      });
      response.on("close", () =>
        resolve({ status: response.statusCode ?? 0, location: response.headers.location, body }),
      );
    });
    request.on("timeout", () => {
      resolve(`no response within ${TIMEOUT_MS / 1000} s`);
      request.destroy();
    });
    request.on("error", (error) => resolve(error.message));
  });
}

function notReached(url: URL, why: string): Seen {
  return note(
    `Cannot reach ${url.host} from this machine (${why}). Try it from another network: many routers block their public ` +
      "address from inside. If it fails there too, check the DNS name, port forwarding, and the proxy.",
  );
}

function wasLed(visited: readonly string[]): Seen {
  return note(`${visited.join(" redirects to ")}. Set publicUrl to the last address.`);
}

function readBody(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function isView(value: unknown): value is PublicView {
  return (
    typeof value === "object" &&
    value !== null &&
    "client" in value &&
    typeof value.client === "string" &&
    "peer" in value &&
    typeof value.peer === "string" &&
    "isForwarded" in value &&
    "isTrusted" in value &&
    "origin" in value
  );
}

function ok(text: string): Seen {
  return { state: "ok", text };
}

function note(text: string): Seen {
  return { state: "note", text };
}

function wrong(text: string): Seen {
  return { state: "wrong", text };
}
