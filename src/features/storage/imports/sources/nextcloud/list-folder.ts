import { SourceError } from "../../source.ts";
import { StatusError } from "../server/failures.ts";
import type { ServerClient } from "../server/server-client.ts";
import { type DavEntry, decodeSegment, PROPERTIES_REQUEST, toDavEntry } from "./dav-entry.ts";
import type { DavResponse } from "./multistatus.ts";
import { say } from "../../../../../translations/say.ts";

/** A folder on the server. */
export interface ListedFolder {
  /** Undefined if the server doesn't list the folder with its members. */
  readonly self: DavEntry | undefined;
  /** By name. */
  readonly members: readonly DavEntry[];
}

const MEMBERS_MAX = 200_000;
/** 1,300 bytes for each of them. */
const LISTING_BYTES_MAX = 256 * 1024 * 1024;

interface FoundEntry {
  /** How many segments its path has. */
  readonly level: number;
  /** Whether its path is the one that was requested. */
  readonly isRequested: boolean;
  readonly entry: DavEntry;
}

/**
 * Lists a folder and its members.
 * @throws StatusError if the server does not list it
 * @throws SourceError if the response is no list
 */
export function listFolder(client: ServerClient, folder: URL, signal: AbortSignal): Promise<ListedFolder> {
  return client.complete(signal, async () => {
    const response = await client.send(folder, {
      method: "PROPFIND",
      headers: { Depth: "1", "Content-Type": "application/xml; charset=utf-8" },
      body: PROPERTIES_REQUEST,
      signal,
    });
    const { status, body } = response;
    if (status === 207) return separate(await readEntries(body, folder));
    await body.cancel();
    throw new StatusError(status, say`The server does not list this folder (status ${status}).`);
  });
}

async function readEntries(body: ReadableStream<Uint8Array>, folder: URL): Promise<FoundEntry[]> {
  // Loaded at the first use: the start does not need the parser.
  const { MultistatusParser } = await import("./multistatus.ts");
  const parser = new MultistatusParser();
  const found: FoundEntry[] = [];
  const requested = segmentsOf(folder.href, folder).map(decodeSegment).join("/");
  const add = (responses: readonly DavResponse[]) => {
    for (const response of responses) {
      const segments = segmentsOf(response.href, folder);
      const isRequested = segments.map(decodeSegment).join("/") === requested;
      found.push({ level: segments.length, isRequested, entry: toDavEntry(response, segments.at(-1) ?? "") });
    }
  };
  let sizeBytes = 0;
  for await (const part of body) {
    sizeBytes += part.byteLength;
    add(parser.write(part));
    if (found.length > MEMBERS_MAX || sizeBytes > LISTING_BYTES_MAX) {
      throw new SourceError(say`A folder on the server has more than ${MEMBERS_MAX} files. Divide it first.`, false);
    }
  }
  add(parser.finish());
  return found;
}

/** The parts of the path in an href, still encoded. */
function segmentsOf(href: string, folder: URL): string[] {
  const path = URL.parse(href, folder.href)?.pathname ?? "";
  return path.split("/").filter((segment) => segment !== "");
}

/** Separates the folder from its members, which are one level below. */
function separate(found: readonly FoundEntry[]): ListedFolder {
  const entriesAt = (expected: number) => found.filter(({ level }) => level === expected).map(({ entry }) => entry);
  const self = found.find(({ isRequested }) => isRequested) ?? findHighestFolder(found);
  const members = self === undefined ? found.map(({ entry }) => entry) : entriesAt(self.level + 1);
  return { self: self?.entry, members: members.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** The folder above all others: a proxy can change the beginning of paths. */
function findHighestFolder(found: readonly FoundEntry[]): FoundEntry | undefined {
  const level = found.reduce((lowest, item) => Math.min(lowest, item.level), Number.POSITIVE_INFINITY);
  const [highest, second] = found.filter((item) => item.level === level);
  return second === undefined && highest?.entry.isFolder === true ? highest : undefined;
}
