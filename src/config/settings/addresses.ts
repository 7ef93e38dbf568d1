import ipaddr from "ipaddr.js";
import { say } from "../../translations/say.ts";
import { BadValue } from "../setting.ts";

/** Reads the URL of a web service: a scheme, a host and a path, without a slash at the end. */
export function readWebUrl(address: string, example: string): string {
  const url = URL.parse(address);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url === null || !isWeb) throw new BadValue(say`must be a full URL such as "${example}"`);
  if (url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new BadValue(say`must not have a query, a fragment, or credentials`);
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** Reads the URL of a service that the operator chose. */
export function readService(address: string): string {
  return readWebUrl(address, "https://push.example.org");
}

/** Reads an IP address or a host name. */
export function readHost(host: string): string {
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  const isName = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(plain);
  if (!isName && !ipaddr.isValid(plain)) throw new BadValue(say`must be an IP address or a host name`);
  return plain;
}
