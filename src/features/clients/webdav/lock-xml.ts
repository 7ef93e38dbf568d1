/** Locks in XML (RFC 4918, sections 14 and 15). */
import type { CoveringLock } from "../../../tree/model/types.ts";
import { AppError } from "../../../errors.ts";
import { escapeXml } from "../../../lib/escape-xml.ts";
import { type Message, say } from "../../../translations/say.ts";
import { isDav, type XmlElement, writeElement } from "./xml.ts";

/** Characters of DAV:owner. */
const OWNER_LENGTH_MAX = 4_096;

/** The content of the property DAV:supportedlock, of every file and folder. */
export const SUPPORTED_LOCK = ["exclusive", "shared"]
  .map(
    (scope) => `<d:lockentry><d:lockscope><d:${scope}/></d:lockscope><d:locktype><d:write/></d:locktype></d:lockentry>`,
  )
  .join("");

/** The kind of lock that a body of LOCK requests. */
export interface LockInfo {
  readonly isExclusive: boolean;
  /** The element DAV:owner, with all namespace declarations that it needs; null without one. */
  readonly ownerXml: string | null;
}

/** Reads DAV:lockinfo. @throws AppError invalid_request for anything else */
export function readLockInfo(root: XmlElement): LockInfo {
  if (!isDav(root, "lockinfo")) throw invalidLockInfo(say`The body of LOCK has no DAV:lockinfo.`);
  const scope = root.children.find((child) => isDav(child, "lockscope"))?.children ?? [];
  const type = root.children.find((child) => isDav(child, "locktype"))?.children ?? [];
  const isExclusive = scope.some((child) => isDav(child, "exclusive"));
  const isShared = scope.some((child) => isDav(child, "shared"));
  if (isExclusive === isShared)
    throw invalidLockInfo(say`The body of LOCK has no DAV:lockscope with either DAV:exclusive or DAV:shared.`);
  if (!type.some((child) => isDav(child, "write")))
    throw invalidLockInfo(say`The body of LOCK has no DAV:locktype with DAV:write.`);
  const owner = root.children.find((child) => isDav(child, "owner"));
  const ownerXml = owner === undefined ? null : writeElement(owner);
  if ((ownerXml?.length ?? 0) > OWNER_LENGTH_MAX)
    throw invalidLockInfo(say`The body of LOCK has a DAV:owner of more than ${OWNER_LENGTH_MAX} characters.`);
  return { isExclusive, ownerXml };
}

/**
 * The content of the property DAV:lockdiscovery of an item.
 * @param href the percent-encoded path of the item
 * @param levels how many levels above the item the client can see: a lock of a folder above that is shown there
 */
export function lockDiscovery(locks: readonly CoveringLock[], href: string, levels: number, nowMs: number): string {
  return locks
    .map(({ isExclusive, isDeep, ownerXml, token, expiresAtMs, height }) => {
      const seconds = Math.max(1, Math.ceil((expiresAtMs - nowMs) / 1000));
      return (
        "<d:activelock><d:locktype><d:write/></d:locktype>" +
        `<d:lockscope><d:${isExclusive ? "exclusive" : "shared"}/></d:lockscope>` +
        `<d:depth>${isDeep ? "infinity" : "0"}</d:depth>${ownerXml ?? ""}<d:timeout>Second-${seconds}</d:timeout>` +
        `<d:locktoken><d:href>${escapeXml(token)}</d:href></d:locktoken>` +
        `<d:lockroot><d:href>${escapeXml(pathAbove(href, Math.min(height, levels)))}</d:href></d:lockroot></d:activelock>`
      );
    })
    .join("");
}

/** The path of a folder so many levels above an item. */
function pathAbove(href: string, height: number): string {
  if (height === 0) return href;
  const parts = href.replace(/\/$/, "").split("/");
  return `${parts.slice(0, parts.length - height).join("/")}/`;
}

function invalidLockInfo(what: Message): AppError {
  return new AppError("invalid_request", say`${what} See RFC 4918, section 9.10.`);
}
