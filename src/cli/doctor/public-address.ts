/** Checks the public address for `larder doctor`: its name, certificate, proxy, and server. */
import * as http from "node:http";
import * as https from "node:https";
import { connect } from "node:tls";
import { EXPIRY_WARNING_MS } from "../../server/net/tls.ts";
import { PROBE_HEADER, type PublicView } from "../../server/http/public-view.ts";
import { type Finding, note, ok, wrong } from "./findings.ts";

const TIMEOUT_MS = 10_000;
const HOPS_MAX = 5;
const BODY_BYTES_MAX = 64 * 1024;

interface AddressResponse {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

/**
 * Requests the public address, and reports which server responds.
 * @param publicUrl without a slash at the end
 * @param token proves to the server that the request comes from this machine
 */
export async function examineAddress(publicUrl: string, token: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  let url = new URL(`${publicUrl}/health/live`);
  const visited: string[] = [];
  for (;;) {
    if (url.protocol === "https:") findings.push(...(await examineCertificate(url)));
    if (findings.some(({ state }) => state === "wrong")) return findings;
    const response = await request(url, token);
    if (typeof response === "string") return [...findings, describeFailure(url, response)];
    visited.push(url.href);
    const { location } = response;
    if (location === undefined || response.status < 300 || response.status > 399) {
      if (visited.length > 1) findings.push(describeRedirects(visited));
      return [...findings, ...examineResponse(publicUrl, url, response)];
    }
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next === undefined || !next.protocol.startsWith("http")) {
      return [...findings, wrong(`${url.href} redirects to ${JSON.stringify(location)}, which is not a web address.`)];
    }
    if (visited.includes(next.href) || visited.length === HOPS_MAX) {
      return [
        ...findings,
        wrong(
          `Redirect loop: ${visited.join(" redirects to ")}. Usually two proxies, or a proxy and tls.redirectPort, both ` +
            "redirect HTTP to HTTPS while the outer proxy connects to the inner one over HTTP.",
        ),
      ];
    }
    url = next;
  }
}

function examineResponse(publicUrl: string, url: URL, { status, body }: AddressResponse): Finding[] {
  const fields = readBody(body);
  if (status !== 200 || fields["status"] !== "live") {
    return [wrong(`Another service responds at ${url.href} (status ${status}). Check the target of the proxy.`)];
  }
  const view = fields["seen"];
  if (!isView(view)) {
    return [
      wrong(
        `A Larder server with another data directory responds at ${url.href}, or a proxy removes the header ` +
          `${PROBE_HEADER}. Check the target of the proxy.`,
      ),
    ];
  }
  return [...examineForwarding(view), ...examineOrigin(publicUrl, view)];
}

function examineForwarding({ client, peer, isForwarded, isTrusted }: PublicView): Finding[] {
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

function examineOrigin(publicUrl: string, { origin }: PublicView): Finding[] {
  const publicOrigin = new URL(publicUrl).origin;
  if (origin === null || origin === publicOrigin) return [];
  return [
    note(
      `The public address is ${publicOrigin}, but requests arrive for ${origin}. Let the proxy forward Host and X-Forwarded-Proto.`,
    ),
  ];
}

async function examineCertificate(url: URL): Promise<Finding[]> {
  const result = await readCertificate(url);
  // The request that follows reports why there is no connection.
  if (result === undefined) return [];
  const { endsMs, fault } = result;
  const day = Number.isNaN(endsMs) ? "an unknown date" : new Date(endsMs).toISOString().slice(0, 10);
  if (fault !== undefined) {
    return [wrong(`Clients reject the certificate of ${url.host}: ${fault}. It expires on ${day}.`)];
  }
  if (endsMs - Date.now() > EXPIRY_WARNING_MS) return [ok(`The certificate of ${url.host} is valid until ${day}.`)];
  return [note(`The certificate of ${url.host} expires on ${day}. Renew it.`)];
}

/** The expiry of the certificate, and why clients reject it; undefined without a connection. */
function readCertificate({ hostname, port }: URL): Promise<{ endsMs: number; fault: string | undefined } | undefined> {
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

/** The response, or the error. Uses node:http, which ignores the proxies of the environment. */
function request(url: URL, token: string): Promise<AddressResponse | string> {
  return new Promise((resolve) => {
    const headers = { [PROBE_HEADER]: token, accept: "application/json" };
    const get = url.protocol === "https:" ? https.get : http.get;
    const sent = get(url, { timeout: TIMEOUT_MS, agent: false, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
        if (body.length > BODY_BYTES_MAX) response.destroy();
      });
      response.on("close", () =>
        resolve({ status: response.statusCode ?? 0, location: response.headers.location, body }),
      );
    });
    sent.on("timeout", () => {
      resolve(`no response within ${TIMEOUT_MS / 1000} s`);
      sent.destroy();
    });
    sent.on("error", (error) => resolve(error.message));
  });
}

function describeFailure(url: URL, why: string): Finding {
  return note(
    `Cannot reach ${url.host} from this machine (${why}). Try it from another network: many routers block their public ` +
      "address from inside. If it fails there too, check the DNS name, port forwarding, and the proxy.",
  );
}

function describeRedirects(visited: readonly string[]): Finding {
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
