import type { Checksum } from "../server/download.ts";
import type { DavResponse, DavValue } from "./multistatus.ts";

/** A file or folder on the server. */
export interface DavEntry {
  /** The percent-encoded name in its address. */
  readonly segment: string;
  /** May be invalid, but has no slash. */
  readonly name: string;
  readonly isFolder: boolean;
  readonly sizeBytes: number | undefined;
  readonly modifiedMs: number | undefined;
  /** Without the quotes. */
  readonly etag: string | undefined;
  readonly fileId: string | undefined;
  /** Distinguishes the server from others, under any address. */
  readonly instanceId: string | undefined;
  readonly isFavorite: boolean;
  readonly tags: readonly string[];
  readonly checksum: Checksum | undefined;
  /** Whether someone else shares it with the account. */
  readonly isReceived: boolean;
  readonly isEndToEndEncrypted: boolean;
  readonly comments: number;
}

const DAV = "DAV:";
const OWNCLOUD = "http://owncloud.org/ns";
const NEXTCLOUD = "http://nextcloud.org/ns";

/** The request for the properties of an entry. Servers leave out those that they don't know. */
export const PROPERTIES_REQUEST = `<?xml version="1.0" encoding="utf-8"?>
<d:propfind xmlns:d="${DAV}" xmlns:oc="${OWNCLOUD}" xmlns:nc="${NEXTCLOUD}"><d:prop>
<d:resourcetype/><d:getcontentlength/><d:getlastmodified/><d:getetag/>
<oc:fileid/><oc:id/><oc:size/><oc:favorite/><oc:checksums/><oc:permissions/><oc:tags/><oc:comments-count/>
<nc:system-tags/><nc:mount-type/><nc:is-encrypted/>
</d:prop></d:propfind>`;

const CHECKSUMS = ["SHA256", "SHA1", "MD5"] as const;
const ALGORITHMS = { SHA256: "sha256", SHA1: "sha1", MD5: "md5" } as const;
const DIGEST_LENGTHS = { SHA256: 64, SHA1: 40, MD5: 32 } as const;

/** @param segment the last part of its path, as sent */
export function toDavEntry({ properties }: DavResponse, segment: string): DavEntry {
  const valueOf = (namespace: string, name: string) => properties.get(`${namespace} ${name}`);
  const textOf = (namespace: string, name: string) => valueOf(namespace, name)?.text.trim() ?? "";
  const isFolder = valueOf(DAV, "resourcetype")?.elements.some(({ name }) => name === "collection") === true;
  const modifiedMs = Date.parse(textOf(DAV, "getlastmodified"));
  return {
    segment,
    name: decodeSegment(segment).replaceAll("/", "_"),
    isFolder,
    sizeBytes: toCount(textOf(DAV, "getcontentlength")) ?? toCount(textOf(OWNCLOUD, "size")),
    modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
    etag: textOf(DAV, "getetag").replace(/^(?:W\/)?"(.*)"$/, "$1") || undefined,
    fileId: textOf(OWNCLOUD, "fileid") || undefined,
    // The ID of the file, followed by that of the server: 00000042oc8s3kqz1x.
    instanceId: /^\d{8,}([a-z]\w+)$/.exec(textOf(OWNCLOUD, "id"))?.[1],
    isFavorite: (toCount(textOf(OWNCLOUD, "favorite")) ?? 0) > 0,
    tags: [...tagsOf(valueOf(NEXTCLOUD, "system-tags")), ...tagsOf(valueOf(OWNCLOUD, "tags"))],
    checksum: toChecksum(valueOf(OWNCLOUD, "checksums")),
    // "S" means shared by someone else, see the permissions of ownCloud's WebDAV.
    isReceived: textOf(NEXTCLOUD, "mount-type") === "shared" || textOf(OWNCLOUD, "permissions").includes("S"),
    isEndToEndEncrypted: textOf(NEXTCLOUD, "is-encrypted") === "1",
    comments: toCount(textOf(OWNCLOUD, "comments-count")) ?? 0,
  };
}

/** The name in a percent-encoded segment. What is not UTF-8 becomes replacement characters. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    const bytes = segment.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    return new TextDecoder().decode(Buffer.from(bytes, "latin1"));
  }
}

function toCount(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function tagsOf(value: DavValue | undefined): string[] {
  return value?.elements.map(({ text }) => text.trim()).filter((text) => text !== "") ?? [];
}

/** The best of the checksums: `SHA1:… MD5:… ADLER32:…`, in one element or in several. */
function toChecksum(value: DavValue | undefined): Checksum | undefined {
  const text = value?.elements.map((element) => element.text).join(" ") ?? "";
  for (const name of CHECKSUMS) {
    const [, hex] = new RegExp(`(?:^|\\s)${name}:([0-9a-f]{${DIGEST_LENGTHS[name]}})(?:\\s|$)`, "i").exec(text) ?? [];
    if (hex !== undefined) return { algorithm: ALGORITHMS[name], hex: hex.toLowerCase() };
  }
  return undefined;
}
