/** The albums and tags of an Immich account, and which photos are in them. */
import type { LeftOut, SourceAlbum } from "../../source.ts";
import type { JsonFields } from "../server/json-fields.ts";
import type { ImmichApi, SearchQuery } from "./api.ts";
import { say } from "../../../../../translations/say.ts";

/** Albums and tags. Memory: the IDs of the photos that are in one. */
export interface Collections {
  readonly albums: readonly SourceAlbum[];
  /** Names of albums, by asset. */
  readonly albumsOf: ReadonlyMap<string, readonly string[]>;
  /** Names of tags, by asset. */
  readonly tagsOf: ReadonlyMap<string, readonly string[]>;
  readonly leftOut: readonly LeftOut[];
}

/** Reads all albums and tags. */
export async function readCollections(api: ImmichApi, userId: string, signal: AbortSignal): Promise<Collections> {
  const albumsOf = new Map<string, string[]>();
  const leftOut: LeftOut[] = [];
  const albums: SourceAlbum[] = [];
  const names = new Set<string>();
  for (const fields of await api.albums(signal)) {
    const album = toAlbum(fields, names);
    const own = await listOwnAssets(api, fields, userId, signal);
    leftOut.push(...describeAlbum(fields, userId, own.length));
    if (own.length === 0 && ownerOf(fields) !== userId) continue;
    names.add(album.name);
    albums.push(album);
    for (const id of own) add(albumsOf, id, album.name);
  }
  const tags = await readTags(api, userId, signal);
  return { albums, albumsOf, tagsOf: tags.tagsOf, leftOut: [...leftOut, ...tags.leftOut] };
}

/** Two albums may have the same name there. */
function toAlbum(fields: JsonFields, used: ReadonlySet<string>): SourceAlbum {
  const base = fields.optionalString("albumName") ?? "Untitled album";
  let name = base;
  for (let number = 2; used.has(name); number++) name = `${base} (${number})`;
  const description = fields.optionalString("description");
  return { name, ...(description !== undefined && { description }) };
}

function ownerOf(album: JsonFields): string | undefined {
  const owner = album.optionalString("ownerId");
  if (owner !== undefined) return owner;
  // Since version 3, the owner is one of the users.
  const users = album.objects("albumUsers");
  return users
    .find((user) => user.optionalString("role") === "owner")
    ?.object("user")
    .string("id");
}

function describeAlbum(fields: JsonFields, userId: string, own: number): LeftOut[] {
  const name = fields.optionalString("albumName") ?? "Untitled album";
  const leftOut: LeftOut[] = [];
  const others = (fields.optionalNumber("assetCount") ?? 0) - own;
  if (others > 0 && (fields.isTrue("shared") || ownerOf(fields) !== userId)) {
    const message = say`Photos of other people in this album. Only your own are imported.`;
    leftOut.push({ name, reason: "unsupported", count: others, message });
  }
  if (fields.isTrue("shared") && ownerOf(fields) === userId) {
    const message = say`The album is shared. The share is not imported: share the album again in Larder.`;
    leftOut.push({ name, reason: "unsupported", message });
  }
  return leftOut;
}

async function listOwnAssets(
  api: ImmichApi,
  album: JsonFields,
  userId: string,
  signal: AbortSignal,
): Promise<string[]> {
  const id = album.string("id");
  if (api.isAtLeast(1, 135)) return searchIds(api, { albumIds: [id] }, userId, signal);
  const assets = (await api.album(id, signal)).objects("assets");
  return assets.filter((asset) => asset.string("ownerId") === userId).map((asset) => asset.id("id"));
}

async function searchIds(api: ImmichApi, query: SearchQuery, userId: string, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  for await (const assets of api.search({ ...query, withStacked: true }, signal)) {
    for (const asset of assets) if (asset.string("ownerId") === userId) ids.push(asset.id("id"));
  }
  return ids;
}

async function readTags(api: ImmichApi, userId: string, signal: AbortSignal) {
  const tagsOf = new Map<string, string[]>();
  const tags = await api.tags(signal);
  if (!api.isAtLeast(1, 135)) return { tagsOf, leftOut: describeUnreadTags(tags.length) };
  // Parents before children: `Travel` before `Travel/Italy`.
  const byName = tags.map((tag) => ({ id: tag.string("id"), name: tag.optionalString("value") ?? tag.string("name") }));
  for (const { id, name } of byName.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    for (const asset of await searchIds(api, { tagIds: [id] }, userId, signal)) addTag(tagsOf, asset, name);
  }
  return { tagsOf, leftOut: [] };
}

function describeUnreadTags(count: number): LeftOut[] {
  if (count === 0) return [];
  const message = say`Tags are imported from Immich 1.135 and newer. Update Immich, and import again.`;
  return [{ name: "Tags", reason: "unsupported", count, message }];
}

/** A search for a tag also finds the photos with the tags below it, which say more. */
function addTag(tagsOf: Map<string, string[]>, asset: string, name: string): void {
  const others = tagsOf.get(asset)?.filter((other) => !name.startsWith(`${other}/`)) ?? [];
  tagsOf.set(asset, [...others, name]);
}

function add(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
