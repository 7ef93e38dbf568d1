// An Immich server with the API of several versions, as far as an import uses it. The shapes are those of Immich's
// OpenAPI documents. Fields that a version does not know are rejected.
import { createHash } from "node:crypto";
import type { ReceivedRequest, ScriptedResponse } from "./import-sources.ts";

/** A photo or video on a {@link FakeImmich}. */
export interface FakeAsset {
  readonly id: string;
  readonly fileName: string;
  readonly content: string | Uint8Array;
  /** The account by default. */
  readonly ownerId?: string;
  /** With an offset. Default: noon of a day in July 2024, in Berlin. */
  readonly takenAt?: string;
  /** Null if unknown. */
  readonly timeZone?: string | null;
  readonly visibility?: "timeline" | "archive" | "hidden" | "locked";
  readonly isTrashed?: boolean;
  readonly isFavorite?: boolean;
  readonly isOffline?: boolean;
  readonly isEdited?: boolean;
  readonly livePhotoVideoId?: string;
  readonly description?: string;
  readonly location?: readonly [latitude: number, longitude: number];
  readonly rating?: number;
  readonly stackId?: string;
  /** Default: that of the content. */
  readonly checksum?: string;
  /** Whether Immich has not read its metadata yet. */
  readonly isUnread?: boolean;
}

/** An album on a {@link FakeImmich}. */
export interface FakeAlbum {
  readonly id: string;
  readonly albumName: string;
  readonly description?: string;
  readonly ownerId?: string;
  readonly assetIds: readonly string[];
  readonly isShared?: boolean;
}

/** What is on a {@link FakeImmich}. */
export interface FakeImmichContent {
  /** As in `1.135.3`. */
  readonly version?: string;
  readonly assets?: readonly FakeAsset[];
  readonly albums?: readonly FakeAlbum[];
  readonly tags?: readonly { readonly id: string; readonly value: string; readonly assetIds: readonly string[] }[];
  readonly people?: number;
  /** Permissions that the key lacks. */
  readonly denied?: readonly string[];
  /** The largest page of a search. */
  readonly pageSizeMax?: number;
}

/** The account whose key {@link IMMICH_KEY} is. */
export const IMMICH_USER = "5a7b1c22-0000-4000-8000-000000000001";
export const IMMICH_KEY = "immich-api-key";

const OLD_FIELDS = ["isVisible", "withArchived", "isArchived"];
const NEW_FIELDS = ["visibility", "albumIds", "tagIds"];
const COMMON_FIELDS = ["page", "size", "order", "withExif", "withStacked", "withDeleted", "withPeople"];

/** The API of Immich at the root of a server. */
export class FakeImmich {
  readonly #content: FakeImmichContent;
  readonly #major: number;
  readonly #minor: number;
  readonly #patch: number;

  constructor(content: FakeImmichContent) {
    this.#content = content;
    [this.#major = 0, this.#minor = 0, this.#patch = 0] = (content.version ?? "3.2.2").split(".").map(Number);
  }

  respond(request: ReceivedRequest): ScriptedResponse {
    const url = new URL(request.path, "http://immich.test");
    if (url.pathname === "/api/server/version") {
      return json({ major: this.#major, minor: this.#minor, patch: this.#patch });
    }
    if (request.headers["x-api-key"] !== IMMICH_KEY) return json({ message: "Invalid API key" }, 401);
    const [permission, response] = this.#route(url, request) ?? [];
    if (response === undefined || permission === undefined) return json({ message: "Cannot find it" }, 404);
    if (this.#content.denied?.includes(permission) !== true) return response;
    return json({ message: `Missing required permission: ${permission}` }, 403);
  }

  #isAtLeast(major: number, minor: number): boolean {
    return this.#major > major || (this.#major === major && this.#minor >= minor);
  }

  #route({ pathname, searchParams }: URL, request: ReceivedRequest): [string, ScriptedResponse] | undefined {
    const { assets = [], albums = [], tags = [] } = this.#content;
    const [, id] = /^\/api\/(?:assets|albums)\/([^/]+)/.exec(pathname) ?? [];
    if (pathname === "/api/users/me") return ["user.read", json({ id: IMMICH_USER, email: "ada@example.org" })];
    if (pathname === "/api/assets/statistics") return ["asset.statistics", json(this.#statistics(searchParams))];
    if (pathname === "/api/people") {
      return ["person.read", json({ total: this.#content.people ?? 0, hidden: 0, people: [] })];
    }
    if (pathname === "/api/tags") {
      const listed = tags.map(({ id: tagId, value }) => ({ id: tagId, value, name: value.split("/").at(-1) }));
      return ["tag.read", json(listed)];
    }
    if (pathname === "/api/albums") return ["album.read", this.#listAlbums(searchParams)];
    if (pathname === "/api/search/metadata") return ["asset.read", this.#search(JSON.parse(request.body))];
    const asset = assets.find((other) => other.id === id);
    if (pathname === `/api/assets/${id}/original` && asset) {
      const headers = { "content-type": "application/octet-stream", etag: `W/"${asset.id}"` };
      return ["asset.download", { body: asset.content, headers }];
    }
    if (pathname === `/api/assets/${id}` && asset) return ["asset.read", json(this.#present(asset, true))];
    const album = albums.find((other) => other.id === id);
    return pathname === `/api/albums/${id}` && album
      ? ["album.read", json(this.#presentAlbum(album, true))]
      : undefined;
  }

  #own(): FakeAsset[] {
    return (this.#content.assets ?? []).filter(({ ownerId = IMMICH_USER }) => ownerId === IMMICH_USER);
  }

  #statistics(query: URLSearchParams) {
    const isTrashed = query.get("isTrashed") === "true";
    const visibility = query.get("visibility") ?? (query.get("isArchived") === "true" ? "archive" : undefined);
    const counted = this.#own().filter((asset) => {
      if ((asset.isTrashed ?? false) !== isTrashed) return false;
      const { visibility: own = "timeline" } = asset;
      return visibility === undefined ? own === "timeline" || own === "archive" : own === visibility;
    });
    return { images: counted.length, videos: 0, total: counted.length };
  }

  #listAlbums(query: URLSearchParams): ScriptedResponse {
    const { albums = [] } = this.#content;
    const known = this.#major >= 3 ? ["isOwned", "isShared", "assetId"] : ["shared", "assetId"];
    if ([...query.keys()].some((key) => !known.includes(key))) return json({ message: "Unknown field" }, 400);
    const isShared = query.get(known[1] ?? "") === "true" || query.get("shared") === "true";
    const listed = albums.filter(({ ownerId = IMMICH_USER, isShared: ofAlbum = false }) => {
      if (query.get("isShared") === "true" || isShared) return ofAlbum;
      return this.#major >= 3 || ownerId === IMMICH_USER;
    });
    return json(listed.map((album) => this.#presentAlbum(album, false)));
  }

  #presentAlbum(album: FakeAlbum, withAssets: boolean) {
    const { id, albumName, description = "", ownerId = IMMICH_USER, assetIds, isShared = false } = album;
    const assets = (this.#content.assets ?? []).filter((asset) => assetIds.includes(asset.id));
    const owner = { id: ownerId, email: "owner@example.org", name: "Owner" };
    return {
      id,
      albumName,
      description,
      albumThumbnailAssetId: null,
      assetCount: assets.filter(({ isTrashed }) => isTrashed !== true).length,
      createdAt: "2024-01-01T00:00:00.000Z",
      updatedAt: "2024-01-01T00:00:00.000Z",
      hasSharedLink: false,
      isActivityEnabled: true,
      shared: isShared,
      ...(this.#major >= 3
        ? { albumUsers: [{ role: "owner", user: owner }] }
        : {
            ownerId,
            owner,
            albumUsers: [],
            assets: withAssets ? assets.map((asset) => this.#present(asset, false)) : [],
          }),
    };
  }

  #search(query: Record<string, unknown>): ScriptedResponse {
    const known = [...COMMON_FIELDS, ...(this.#isAtLeast(1, 133) ? NEW_FIELDS : OLD_FIELDS)];
    if (Object.keys(query).some((key) => !known.includes(key))) return json({ message: ["Unknown field"] }, 400);
    const found = (this.#content.assets ?? []).filter((asset) => this.#matches(asset, query));
    const page = Number(query["page"] ?? 1);
    const size = Math.min(Number(query["size"] ?? 250), this.#content.pageSizeMax ?? 1000);
    const items = found.slice((page - 1) * size, page * size);
    const nextPage = found.length > page * size ? String(page + 1) : null;
    const listed = items.map((asset) => this.#present(asset, query["withExif"] === true));
    return json({
      albums: { total: 0, count: 0, items: [], facets: [] },
      assets: { total: items.length, count: items.length, items: listed, facets: [], nextPage },
    });
  }

  #matches(asset: FakeAsset, query: Record<string, unknown>): boolean {
    const { visibility = "timeline" } = asset;
    if (asset.isTrashed === true || visibility === "locked") return false;
    // Immich joins the metadata: a photo without them is not found.
    if (query["withExif"] === true && asset.isUnread === true) return false;
    if (query["visibility"] !== undefined && visibility !== query["visibility"]) return false;
    if (query["isVisible"] === true && visibility === "hidden") return false;
    if (!this.#isAtLeast(1, 133) && query["withArchived"] !== true && visibility === "archive") return false;
    const { albums = [], tags = [] } = this.#content;
    const [albumId] = listOf(query["albumIds"]);
    const album = albums.find(({ id }) => id === albumId);
    if (albumId !== undefined && album?.assetIds.includes(asset.id) !== true) return false;
    const [tagId] = listOf(query["tagIds"]);
    const tag = tags.find(({ id }) => id === tagId);
    if (tagId === undefined) return true;
    return tags.some(
      ({ value, assetIds }) =>
        (value === tag?.value || value.startsWith(`${tag?.value}/`)) && assetIds.includes(asset.id),
    );
  }

  #present(asset: FakeAsset, withExif: boolean) {
    const { id, fileName, content, takenAt = "2024-07-03T12:00:00+02:00", timeZone = "Europe/Berlin" } = asset;
    const { visibility = "timeline", isTrashed = false, ownerId = IMMICH_USER } = asset;
    const instant = new Date(takenAt).toISOString();
    const [latitude, longitude] = asset.location ?? [null, null];
    return {
      id,
      ownerId,
      originalFileName: fileName,
      originalPath: `/data/upload/${ownerId}/ab/cd/${id}.${fileName.split(".").at(-1)}`,
      originalMimeType: "image/jpeg",
      checksum: asset.checksum ?? createHash("sha1").update(content).digest("base64"),
      fileCreatedAt: instant,
      fileModifiedAt: "2024-07-04T00:00:00.000Z",
      localDateTime: `${takenAt.slice(0, 19)}.000Z`,
      createdAt: "2024-07-05T00:00:00.000Z",
      updatedAt: "2024-07-05T00:00:00.000Z",
      type: "IMAGE",
      thumbhash: null,
      duration: this.#major >= 3 ? null : "0:00:00.00000",
      hasMetadata: true,
      isFavorite: asset.isFavorite ?? false,
      isArchived: visibility === "archive",
      isTrashed,
      isOffline: asset.isOffline ?? false,
      livePhotoVideoId: asset.livePhotoVideoId ?? null,
      ...(asset.stackId && { stack: { id: asset.stackId, primaryAssetId: id, assetCount: 2 } }),
      ...(this.#isAtLeast(1, 133) && { visibility }),
      ...(this.#isAtLeast(2, 5) && { isEdited: asset.isEdited ?? false }),
      ...(withExif && {
        exifInfo: {
          dateTimeOriginal: instant,
          timeZone,
          latitude,
          longitude,
          description: asset.description ?? "",
          fileSizeInByte: Buffer.byteLength(content),
          rating: asset.rating ?? null,
          make: null,
        },
      }),
    };
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function json(value: unknown, status = 200): ScriptedResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}
