/**
 * The properties that the server computes: those of RFC 4918 and RFC 4331, and those that the clients of ownCloud and
 * Nextcloud ask for.
 */
import { FOLDER } from "../../../../tree/model/rows.ts";
import type { CoveringLock, FolderState } from "../../../../tree/model/types.ts";
import type { ListedNode } from "../../../../tree/queries/children.ts";
import type { DeadProperty } from "../../../../tree/tables/properties.ts";
import { escapeXml } from "../../../../lib/escape-xml.ts";
import { clientDateMs, httpDate, isoDate } from "./dates.ts";
import { folderEtag } from "../item-etags.ts";
import { lockDiscovery, SUPPORTED_LOCK } from "../lock-xml.ts";
import { DAV } from "../xml.ts";

const OWNCLOUD = "http://owncloud.org/ns";
const NEXTCLOUD = "http://nextcloud.org/ns";
export const MICROSOFT = "urn:schemas-microsoft-com:";

/** The prefixes that every multistatus declares. */
const PREFIXES: Readonly<Record<string, string>> = { [DAV]: "d", [OWNCLOUD]: "oc", [NEXTCLOUD]: "nc" };

/** The declarations of {@link PREFIXES}. */
export const NAMESPACE_DECLARATIONS = Object.entries(PREFIXES)
  .map(([namespace, prefix]) => ` xmlns:${prefix}="${namespace}"`)
  .join("");

/** What is the same for all members of a folder. */
export interface EntryContext {
  /** `oc:permissions` of files. */
  readonly filePermissions: string;
  /** `oc:permissions` of folders. */
  readonly folderPermissions: string;
  /** Id and name of the account that owns them. */
  readonly ownerId: string;
  readonly ownerName: string;
  /** `nc:mount-type`: empty in the own tree. */
  readonly mountType: "" | "shared";
  /** Appended to the ETags of folders: whether items can be changed, which clients store for each item. */
  readonly etagSuffix: string;
  /** How many levels above it the client can see. */
  readonly levels: number;
  /** Used and free bytes of the account that signed in. */
  readonly quota: () => Quota;
  /** The state of a folder that is in no tree. */
  readonly ownState?: SizedState;
  /** `oc:id` of a node. */
  readonly clientIdOf: (nodeId: number) => string;
  /** Whether there are thumbnails of this media type. */
  readonly hasPreview: (mediaType: string) => boolean;
  /** Changes after a restore, and in a copy of the directory of a stopped server; empty before the first of these. */
  readonly dataFingerprint: string;
}

/** The storage of an account (RFC 4331). */
export interface Quota {
  /** Null: show the size of the folder. */
  readonly usedBytes: number | null;
  readonly availableBytes: number;
}

/** A folder's state with its size. */
export interface SizedState extends FolderState {
  readonly sizeBytes: number;
}

/** What was read about the nodes of a slice, by row id. */
export interface SliceFacts {
  readonly states: ReadonlyMap<number, SizedState>;
  readonly dead: ReadonlyMap<number, readonly DeadProperty[]>;
  readonly locks: ReadonlyMap<number, readonly CoveringLock[]>;
  /** Nodes that the signed-in account marked as favorites. */
  readonly favorites: ReadonlySet<number>;
  readonly nowMs: number;
}

/** A file or folder in a multistatus. */
export interface Entry {
  readonly node: ListedNode;
  /** The percent-encoded path, also of the characters that are special in XML, with a slash at the end of a folder. */
  readonly href: string;
  /** The name as the client sees it. */
  readonly name: string;
  readonly context: EntryContext;
}

/** A part of a response: text that is always the same, or a function that writes it for an entry. */
export type ResponsePart = string | ((entry: Entry, facts: SliceFacts) => string);

/** A property of the server. */
export interface LiveProperty {
  readonly namespace: string;
  readonly name: string;
  /** Its element; undefined if files don't have it. */
  readonly file: readonly ResponsePart[] | undefined;
  readonly folder: readonly ResponsePart[] | undefined;
  /** Whether a request for all properties returns it (RFC 4918, section 9.1; RFC 4331, section 2). */
  readonly isInAllprop: boolean;
  /** Whether a client may store another value, which is shown instead. */
  readonly isReplaceable: boolean;
}

/**
 * Makes properties of a namespace: for files and folders, for files only, and for folders only.
 * @returns functions of a name and of the content of its element
 */
function propertiesIn(namespace: string, isInAllprop: boolean) {
  const rest = { namespace, isInAllprop, isReplaceable: false };
  const write = (name: string, content: ResponsePart) => elementWith(emptyElement({ namespace, name }), content);
  return {
    both: (name: string, file: ResponsePart, folder = file): LiveProperty => ({
      ...rest,
      name,
      file: write(name, file),
      folder: write(name, folder),
    }),
    ofFiles: (name: string, file: ResponsePart): LiveProperty => ({
      ...rest,
      name,
      file: write(name, file),
      folder: undefined,
    }),
    ofFolders: (name: string, folder: ResponsePart): LiveProperty => ({
      ...rest,
      name,
      file: undefined,
      folder: write(name, folder),
    }),
  };
}

/** An empty element, filled with a content. */
function elementWith(empty: string, content: ResponsePart): ResponsePart[] {
  if (content === "") return [empty];
  const start = empty.slice(0, -"/>".length);
  return [`${start}>`, content, `</${start.slice(1).split(" ", 1)[0]}>`];
}

const dav = propertiesIn(DAV, true);
const quota = propertiesIn(DAV, false);
const DAV_PROPERTIES: readonly LiveProperty[] = [
  dav.both("resourcetype", "", "<d:collection/>"),
  dav.both(
    "getetag",
    ({ node }) => `"${node.digest}"`,
    (entry, facts) => folderEtag(stateOf(entry, facts), entry.context.etagSuffix),
  ),
  dav.both(
    "getlastmodified",
    ({ node }) => httpDate(fileAtMs(node)),
    (entry, facts) => httpDate(stateOf(entry, facts).changedAtMs),
  ),
  dav.both("creationdate", ({ node }) => isoDate(node.createdAtMs)),
  dav.ofFiles("getcontentlength", ({ node }) => String(node.sizeBytes)),
  dav.ofFiles("getcontenttype", ({ node }) => escapeXml(node.mediaType ?? "")),
  { ...dav.both("displayname", ""), file: [displayName], folder: [displayName], isReplaceable: true },
  dav.both("supportedlock", SUPPORTED_LOCK),
  dav.both("lockdiscovery", ({ node, href, context: { levels } }, { locks, nowMs }) =>
    lockDiscovery(locks.get(node.id) ?? [], href, levels, nowMs),
  ),
  quota.ofFolders("quota-used-bytes", (entry, facts) =>
    String(entry.context.quota().usedBytes ?? stateOf(entry, facts).sizeBytes),
  ),
  quota.ofFolders("quota-available-bytes", ({ context }) => String(context.quota().availableBytes)),
];

const ownCloud = propertiesIn(OWNCLOUD, false);
const OWNCLOUD_PROPERTIES: readonly LiveProperty[] = [
  ownCloud.both("id", ({ node, context }) => context.clientIdOf(node.id)),
  ownCloud.both("fileid", ({ node }) => String(node.id)),
  ownCloud.both(
    "permissions",
    ({ context }) => context.filePermissions,
    ({ context }) => context.folderPermissions,
  ),
  ownCloud.both(
    "size",
    ({ node }) => String(node.sizeBytes),
    (entry, facts) => String(stateOf(entry, facts).sizeBytes),
  ),
  // When it changes, sync clients upload what they have and the server lacks, instead of deleting it on the computer.
  ownCloud.ofFolders("data-fingerprint", ({ context }) => context.dataFingerprint),
  ownCloud.ofFiles("checksums", ({ node }) => `<oc:checksum>SHA256:${node.digest}</oc:checksum>`),
  ownCloud.both("owner-id", ({ context }) => escapeXml(context.ownerId)),
  ownCloud.both("owner-display-name", ({ context }) => escapeXml(context.ownerName)),
  ownCloud.both("favorite", ({ node }, { favorites }) => (favorites.has(node.id) ? "1" : "0")),
  ownCloud.both("tags", ""),
  ownCloud.both("share-types", ""),
  ownCloud.both("comments-unread", "0"),
];

const nextcloud = propertiesIn(NEXTCLOUD, false);
const NEXTCLOUD_PROPERTIES: readonly LiveProperty[] = [
  nextcloud.both("has-preview", ({ node, context }) => String(context.hasPreview(node.mediaType ?? "")), "false"),
  nextcloud.both("mount-type", ({ context }) => context.mountType),
  nextcloud.both("is-encrypted", "0"),
  nextcloud.both("lock", ({ node }, { locks }) => (locks.has(node.id) ? "1" : "0")),
  nextcloud.both("creation_time", ({ node }) => seconds(node.createdAtMs)),
  nextcloud.both("upload_time", ({ node }) => seconds(node.contentAtMs ?? node.createdAtMs)),
];

/** The mark of a favorite, which clients also set. */
export function isFavoriteMark({ namespace, name }: { readonly namespace: string; readonly name: string }): boolean {
  return namespace === OWNCLOUD && name === "favorite";
}

/** Windows sets it after each upload. */
const WINDOWS_PROPERTY = propertiesIn(MICROSOFT, false).ofFiles("Win32LastModifiedTime", ({ node }) =>
  httpDate(fileAtMs(node)),
);

const LIVE: readonly LiveProperty[] = [
  ...DAV_PROPERTIES,
  ...OWNCLOUD_PROPERTIES,
  ...NEXTCLOUD_PROPERTIES,
  WINDOWS_PROPERTY,
];

const BY_NAME = new Map(LIVE.map((property) => [keyOf(property), property]));

/** The property of the server with this name; undefined if there is none. */
export function findLive(namespace: string, name: string): LiveProperty | undefined {
  return BY_NAME.get(keyOf({ namespace, name }));
}

/** All properties of the server. */
export function listLive(): readonly LiveProperty[] {
  return LIVE;
}

/**
 * Whether only the server defines the properties of a namespace. Sync clients ask for many of them that exist elsewhere
 * only: nobody can store them, so no listing has to look for stored ones.
 */
export function isReserved(namespace: string): boolean {
  return namespace === OWNCLOUD || namespace === NEXTCLOUD;
}

/** A name in its namespace as one text. No name contains a space. */
export function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${name} ${namespace}`;
}

/** An empty element of this name. */
export function emptyElement({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  const prefix = PREFIXES[namespace];
  if (prefix !== undefined) return `<${prefix}:${name}/>`;
  return namespace === "" ? `<${name}/>` : `<x:${name} xmlns:x="${escapeXml(namespace)}"/>`;
}

/** A folder that was deleted while its parent is listed has an ETag that matches no other one. */
function stateOf({ node, context }: Entry, { states }: SliceFacts): SizedState {
  const state = states.get(node.id) ?? context.ownState;
  return state ?? { etag: '"deleted"', sizeBytes: 0, changedAtMs: node.createdAtMs };
}

function fileAtMs({ fileAtMs: atMs, createdAtMs }: ListedNode): number {
  return clientDateMs(atMs ?? createdAtMs);
}

/** Whether a node is a folder. */
export function isFolder({ kind }: ListedNode): boolean {
  return kind === FOLDER;
}

/** The element that a client stored, or the name. */
function displayName({ node, name }: Entry, { dead }: SliceFacts): string {
  const stored = dead.get(node.id)?.find((property) => property.name === "displayname" && property.namespace === DAV);
  return stored?.value ?? `<d:displayname>${escapeXml(name)}</d:displayname>`;
}

/** Seconds since 1970. */
function seconds(ms: number): string {
  return String(Math.floor(ms / 1000));
}
