/**
 * The properties that the server computes: those of RFC 4918 and RFC 4331, and those that the clients of ownCloud and
 * Nextcloud ask for.
 */
import { FOLDER } from "../../../../tree/model/rows.ts";
import type { CoveringLock, FolderState } from "../../../../tree/model/types.ts";
import type { ListedNode } from "../../../../tree/queries/children.ts";
import type { DeadProperty } from "../../../../tree/tables/properties.ts";
import { escapeXml } from "../../escape-xml.ts";
import { folderEtag } from "../item-etags.ts";
import { lockDiscovery, SUPPORTED_LOCK } from "../lock-xml.ts";

export const DAV = "DAV:";
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
export interface Surroundings {
  /** `oc:permissions` of files. */
  readonly filePermissions: string;
  /** `oc:permissions` of folders. */
  readonly folderPermissions: string;
  /** Id and name of the account that owns them. */
  readonly ownerId: string;
  readonly ownerName: string;
  /** `nc:mount-type`: empty in the own tree. */
  readonly mountType: "" | "shared";
  /** Appended to the ETags of folders: in a share, whether it can be changed, which clients store for each item. */
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
  readonly nowMs: number;
}

/** A file or folder in a multistatus. */
export interface Entry {
  readonly node: ListedNode;
  /** The percent-encoded path, with a slash at the end of a folder. */
  readonly href: string;
  /** The name as the client sees it. */
  readonly name: string;
  readonly surroundings: Surroundings;
}

/** Writes a property as an element. */
export type RenderProperty = (entry: Entry, facts: SliceFacts) => string;

/** A property: an element that is always the same, or a function that writes it. */
export type PropertyPart = string | RenderProperty;

/** A property of the server. */
export interface LiveProperty {
  readonly namespace: string;
  readonly name: string;
  /** Undefined if files don't have it. */
  readonly file: PropertyPart | undefined;
  readonly folder: PropertyPart | undefined;
  /** Whether a request for all properties returns it (RFC 4918, section 9.1; RFC 4331, section 2). */
  readonly isInAllprop: boolean;
  /** Whether a client may store another value, which is shown instead. */
  readonly isReplaceable: boolean;
}

/** Makes properties of a namespace: for files and folders, for files only, and for folders only. */
function propertiesIn(namespace: string, isInAllprop: boolean) {
  const both = (name: string, file: PropertyPart, folder = file) => ({
    namespace,
    name,
    file,
    folder,
    isInAllprop,
    isReplaceable: false,
  });
  const ofFiles = (name: string, file: PropertyPart) => ({ ...both(name, file), folder: undefined });
  const ofFolders = (name: string, folder: PropertyPart) => ({ ...both(name, folder), file: undefined });
  return { both, ofFiles, ofFolders };
}

const dav = propertiesIn(DAV, true);
const quota = propertiesIn(DAV, false);
const DAV_PROPERTIES: readonly LiveProperty[] = [
  dav.both("resourcetype", "<d:resourcetype/>", "<d:resourcetype><d:collection/></d:resourcetype>"),
  dav.both(
    "getetag",
    ({ node }) => `<d:getetag>"${node.digest}"</d:getetag>`,
    (entry, facts) => `<d:getetag>${folderEtag(stateOf(entry, facts), entry.surroundings.etagSuffix)}</d:getetag>`,
  ),
  dav.both(
    "getlastmodified",
    ({ node }) => `<d:getlastmodified>${httpDate(fileAtMs(node))}</d:getlastmodified>`,
    (entry, facts) => `<d:getlastmodified>${httpDate(stateOf(entry, facts).changedAtMs)}</d:getlastmodified>`,
  ),
  dav.both("creationdate", ({ node }) => `<d:creationdate>${isoSeconds(node.createdAtMs)}</d:creationdate>`),
  dav.ofFiles("getcontentlength", ({ node }) => `<d:getcontentlength>${node.sizeBytes}</d:getcontentlength>`),
  dav.ofFiles(
    "getcontenttype",
    ({ node }) => `<d:getcontenttype>${escapeXml(node.mediaType ?? "")}</d:getcontenttype>`,
  ),
  {
    ...dav.both("displayname", ({ node, name }, { dead }) => {
      const stored = dead
        .get(node.id)
        ?.find((property) => property.name === "displayname" && property.namespace === DAV);
      return stored?.value ?? `<d:displayname>${escapeXml(name)}</d:displayname>`;
    }),
    isReplaceable: true,
  },
  dav.both("supportedlock", `<d:supportedlock>${SUPPORTED_LOCK}</d:supportedlock>`),
  dav.both("lockdiscovery", ({ node, href, surroundings: { levels } }, { locks, nowMs }) => {
    const covering = locks.get(node.id);
    if (covering === undefined) return "<d:lockdiscovery/>";
    return `<d:lockdiscovery>${lockDiscovery(covering, href, levels, nowMs)}</d:lockdiscovery>`;
  }),
  quota.ofFolders("quota-used-bytes", (entry, facts) => {
    const usedBytes = entry.surroundings.quota().usedBytes ?? stateOf(entry, facts).sizeBytes;
    return `<d:quota-used-bytes>${usedBytes}</d:quota-used-bytes>`;
  }),
  quota.ofFolders(
    "quota-available-bytes",
    ({ surroundings }) => `<d:quota-available-bytes>${surroundings.quota().availableBytes}</d:quota-available-bytes>`,
  ),
];

const ownCloud = propertiesIn(OWNCLOUD, false);
const OWNCLOUD_PROPERTIES: readonly LiveProperty[] = [
  ownCloud.both("id", ({ node, surroundings }) => `<oc:id>${surroundings.clientIdOf(node.id)}</oc:id>`),
  ownCloud.both("fileid", ({ node }) => `<oc:fileid>${node.id}</oc:fileid>`),
  ownCloud.both(
    "permissions",
    ({ surroundings }) => `<oc:permissions>${surroundings.filePermissions}</oc:permissions>`,
    ({ surroundings }) => `<oc:permissions>${surroundings.folderPermissions}</oc:permissions>`,
  ),
  ownCloud.both(
    "size",
    ({ node }) => `<oc:size>${node.sizeBytes}</oc:size>`,
    (entry, facts) => `<oc:size>${stateOf(entry, facts).sizeBytes}</oc:size>`,
  ),
  ownCloud.ofFiles(
    "checksums",
    ({ node }) => `<oc:checksums><oc:checksum>SHA256:${node.digest}</oc:checksum></oc:checksums>`,
  ),
  ownCloud.both("owner-id", ({ surroundings }) => `<oc:owner-id>${escapeXml(surroundings.ownerId)}</oc:owner-id>`),
  ownCloud.both(
    "owner-display-name",
    ({ surroundings }) => `<oc:owner-display-name>${escapeXml(surroundings.ownerName)}</oc:owner-display-name>`,
  ),
  ownCloud.both("favorite", "<oc:favorite>0</oc:favorite>"),
  ownCloud.both("tags", "<oc:tags/>"),
  ownCloud.both("share-types", "<oc:share-types/>"),
  ownCloud.both("comments-unread", "<oc:comments-unread>0</oc:comments-unread>"),
];

const nextcloud = propertiesIn(NEXTCLOUD, false);
const NEXTCLOUD_PROPERTIES: readonly LiveProperty[] = [
  nextcloud.both(
    "has-preview",
    ({ node, surroundings }) => `<nc:has-preview>${surroundings.hasPreview(node.mediaType ?? "")}</nc:has-preview>`,
    "<nc:has-preview>false</nc:has-preview>",
  ),
  nextcloud.both("mount-type", ({ surroundings }) => `<nc:mount-type>${surroundings.mountType}</nc:mount-type>`),
  nextcloud.both("is-encrypted", "<nc:is-encrypted>0</nc:is-encrypted>"),
  nextcloud.both("lock", ({ node }, { locks }) => `<nc:lock>${locks.has(node.id) ? 1 : 0}</nc:lock>`),
  nextcloud.both("creation_time", ({ node }) => `<nc:creation_time>${seconds(node.createdAtMs)}</nc:creation_time>`),
  nextcloud.both(
    "upload_time",
    ({ node }) => `<nc:upload_time>${seconds(node.contentAtMs ?? node.createdAtMs)}</nc:upload_time>`,
  ),
];

/** Windows sets it after each upload. */
const WINDOWS_PROPERTY = propertiesIn(MICROSOFT, false).ofFiles(
  "Win32LastModifiedTime",
  ({ node }) => `<z:Win32LastModifiedTime xmlns:z="${MICROSOFT}">${httpDate(fileAtMs(node))}</z:Win32LastModifiedTime>`,
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
function stateOf({ node, surroundings }: Entry, { states }: SliceFacts): SizedState {
  const state = states.get(node.id) ?? surroundings.ownState;
  return state ?? { etag: '"deleted"', sizeBytes: 0, changedAtMs: node.createdAtMs };
}

function fileAtMs({ fileAtMs: atMs, createdAtMs }: ListedNode): number {
  return atMs ?? createdAtMs;
}

/** Whether a node is a folder. */
export function isFolder({ kind }: ListedNode): boolean {
  return kind === FOLDER;
}

/** A date as in HTTP headers (RFC 9110, section 5.6.7). */
function httpDate(ms: number): string {
  return new Date(ms).toUTCString();
}

/** A date of RFC 3339 without a fraction, which some clients can't read. */
function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
