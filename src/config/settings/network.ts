import ipaddr from "ipaddr.js";
import { splitPort } from "../../lib/allowed-targets.ts";
import { say } from "../../translations/say.ts";
import { readHost, readWebUrl } from "./addresses.ts";
import { BadValue, integer, integerOrNone, list, optionalText, readPath, text } from "../setting.ts";

/** Where the server listens, and whom it trusts. */
export const NETWORK_SETTINGS = {
  host: text(
    "address",
    readHost,
    "127.0.0.1",
    "Address to listen on. 0.0.0.0 is all IPv4 addresses, :: all addresses.",
  ),
  port: integer(0, 65_535, 8790, "Port to listen on. 0 selects a free port."),
  socket: optionalText(
    "path",
    readPath,
    "Unix socket to listen on instead of an address and port, for a proxy on this machine. Created with mode 0660; every program that can connect to it is trusted as a proxy.",
  ),
  tls: {
    certFile: optionalText(
      "path",
      readPath,
      "TLS certificate with its chain (PEM). If set, the port serves HTTPS. Reloaded when the file changes.",
    ),
    keyFile: optionalText("path", readPath, "Private key of the TLS certificate (PEM, without a password)."),
    redirectPort: integerOrNone(null, "Port that redirects HTTP to HTTPS, usually 80.", 65_535, "none"),
  },
  basePath: text(
    "path",
    readBasePath,
    "",
    'Path prefix of all addresses, such as "/files". Works whether or not the proxy strips it.',
  ),
  publicUrl: optionalText(
    "URL",
    (address) => readWebUrl(address, "https://files.example.org"),
    "Public address of this server, including the base path. Used for links; if not set, links use the scheme and Host of the request.",
  ),
  trustedProxies: list(
    "addresses or CIDR ranges",
    readNetwork,
    "Proxies whose X-Forwarded-* and Forwarded headers are trusted.",
  ),
  outboundAllow: list(
    "addresses or CIDR ranges, each with a port or without",
    readTarget,
    'Private addresses that webhooks, push notifications, imports from other systems, and a mail server set in Administration may use, also without HTTPS: "192.168.1.20:8080", "10.0.0.0/8", "[fd00::]/8:8080". Every account can send to them, so include a port where possible.',
  ),
  corsOrigins: list(
    "origins",
    readOrigin,
    "Web origins that may use the API and WebDAV from a browser, without cookies.",
  ),
};

function readBasePath(path: string): string {
  const plain = path.replace(/\/+$/, "");
  if (plain === "") return "";
  const isPath = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/.test(plain);
  if (!isPath)
    throw new BadValue(say`must be a path such as "/files" with only letters, digits, ".", "_", "~", "-", and "/"`);
  return plain;
}

/** Origins of web sites, and of programs that are built like web sites: those are scheme and name, `app://obsidian.md`. */
function readOrigin(address: string): string {
  if (/^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(address)) return address;
  const url = URL.parse(address);
  const isOrigin = url !== null && url.origin !== "null" && url.origin === address.replace(/\/$/, "").toLowerCase();
  if (!isOrigin) throw new BadValue(say`must be origins such as "https://photos.example.org", not "${address}"`);
  return url.origin;
}

function readTarget(entry: string): string {
  let parts: ReturnType<typeof splitPort>;
  try {
    parts = splitPort(entry);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new BadValue(say`is not valid: ${error.message}`);
  }
  const network = readNetwork(parts.network);
  if (parts.port === undefined) return network;
  return `${network.includes(":") ? network.replace(/^(.*)(\/\d+)$/, "[$1]$2") : network}:${parts.port}`;
}

function readNetwork(network: string): string {
  try {
    if (network.includes("/")) {
      const [address, bits] = ipaddr.parseCIDR(network);
      return `${address.toString()}/${bits}`;
    }
    const address = ipaddr.parse(network);
    return `${address.toString()}/${address.kind() === "ipv4" ? 32 : 128}`;
  } catch (error) {
    // The message says what was given and what is expected. The library's own message adds nothing.
    if (error instanceof Error)
      throw new BadValue(say`must be addresses such as "192.168.1.2" or "10.0.0.0/8", not "${network}"`);
    throw error;
  }
}
