import { SourceError } from "../../source.ts";
import { StatusError } from "../server/failures.ts";
import { JsonFields, objectsOf } from "../server/json-fields.ts";
import type { ServerClient } from "../server/server-client.ts";
import { say } from "../../../../../translations/say.ts";

/** The conditions of a search for assets. */
export type SearchQuery = Readonly<Record<string, string | boolean | readonly string[]>>;

/** The permissions that an API key needs. */
export const PERMISSIONS = [
  "album.read",
  "asset.download",
  "asset.read",
  "asset.statistics",
  "tag.read",
  "user.read",
] as const;

/** Paths of pages, and of the API. */
const BELOW_ROOT = /\/(?:api|albums|auth|explore|map|photos|places|sharing|user-settings)(?:\/.*)?$/;
/** Half a megabyte, which is parsed at once. */
const PAGE_SIZE = 500;
/** Photos in all lists together: their IDs are in memory. */
const LISTED_MAX = 2_000_000;
/** The oldest version whose API is known to fit. */
const OLDEST: readonly [number, number] = [1, 118];

/** The API of an Immich server, as far as an import needs it. */
export class ImmichApi {
  readonly #client: ServerClient;
  readonly #root: URL;
  readonly #listedMax: number;
  #version: readonly [number, number] = OLDEST;
  #listed = 0;

  /** @param listedMax how many photos all lists together may have */
  constructor(client: ServerClient, listedMax = LISTED_MAX) {
    this.#client = client;
    this.#listedMax = listedMax;
    this.#root = new URL(client.address.href);
    this.#root.pathname = `${this.#root.pathname.replace(/\/$/, "").replace(BELOW_ROOT, "")}/`;
  }

  /** Reads the version, which some requests depend on. @throws SourceError if no supported Immich is there */
  async connect(signal: AbortSignal): Promise<void> {
    const endpoint = "/api/server/version";
    let response: unknown;
    try {
      response = await this.#client.readJson(this.#url(endpoint), endpoint, { signal, attempts: 2 });
    } catch (error) {
      if (!(error instanceof SourceError) || error.isTemporary || !isNotFound(error)) throw error;
      const message = say`No Immich of version ${OLDEST.join(".")} or newer is at this address. Check it, or update Immich.`;
      throw new SourceError(message, false);
    }
    const fields = new JsonFields(response, endpoint);
    this.#version = [fields.number("major"), fields.number("minor")];
    if (this.isAtLeast(...OLDEST)) return;
    const message = say`This Immich has version ${this.#version.join(".")}. Update it to ${OLDEST.join(".")} or newer.`;
    throw new SourceError(message, false);
  }

  /** Whether the server has this version or a newer one. Call {@link connect} first. */
  isAtLeast(major: number, minor: number): boolean {
    const [ofServer, minorOfServer] = this.#version;
    return ofServer > major || (ofServer === major && minorOfServer >= minor);
  }

  /** The ID of the account whose key it is. */
  async userId(signal: AbortSignal): Promise<string> {
    return new JsonFields(await this.#get("/api/users/me", signal), "/api/users/me").string("id");
  }

  /** The number of assets of the account. @param query conditions: `?isTrashed=true` */
  async count(query: string, signal: AbortSignal): Promise<number> {
    const endpoint = `/api/assets/statistics${query}`;
    return new JsonFields(await this.#get(endpoint, signal), endpoint).number("total");
  }

  /** The number of people and pets; undefined if the key may not read them. */
  async countPeople(signal: AbortSignal): Promise<number | undefined> {
    const endpoint = "/api/people";
    try {
      const url = this.#url(`${endpoint}?size=1&withHidden=true`);
      return new JsonFields(await this.#client.readJson(url, endpoint, { signal }), endpoint).optionalNumber("total");
    } catch (error) {
      if (error instanceof SourceError && !error.isTemporary) return undefined;
      throw error;
    }
  }

  /** All albums that the account sees, each once. */
  async albums(signal: AbortSignal): Promise<JsonFields[]> {
    const shared = this.isAtLeast(3, 0) ? "/api/albums?isShared=true" : "/api/albums?shared=true";
    const found = new Map<string, JsonFields>();
    for (const endpoint of ["/api/albums", shared]) {
      const albums = objectsOf(await this.#get(endpoint, signal), endpoint);
      for (const album of albums) found.set(album.string("id"), album);
    }
    return [...found.values()];
  }

  /** An album with its assets, of a server that can't search by album. */
  async album(id: string, signal: AbortSignal): Promise<JsonFields> {
    const endpoint = `/api/albums/${encodeURIComponent(id)}`;
    return new JsonFields(await this.#get(endpoint, signal), "/api/albums/{id}");
  }

  async tags(signal: AbortSignal): Promise<JsonFields[]> {
    return objectsOf(await this.#get("/api/tags", signal), "/api/tags");
  }

  async asset(id: string, signal: AbortSignal): Promise<JsonFields> {
    const endpoint = `/api/assets/${encodeURIComponent(id)}`;
    return new JsonFields(await this.#get(endpoint, signal), "/api/assets/{id}");
  }

  /** The assets that match, in pages. Includes those of partners. */
  async *search(query: SearchQuery, signal: AbortSignal): AsyncGenerator<JsonFields[]> {
    const endpoint = "/api/search/metadata";
    for (let page: number | undefined = 1; page !== undefined; ) {
      const body = JSON.stringify({ ...query, page, size: PAGE_SIZE });
      const headers = { "Content-Type": "application/json" };
      const request = { method: "POST", headers, body, signal } as const;
      // Sequentially: each page names the next one.
      const response = await this.#read(endpoint, request);
      const assets = new JsonFields(response, endpoint).object("assets");
      const items = assets.objects("items");
      this.#listed += items.length;
      if (this.#listed > this.#listedMax) throw new SourceError(say`The server lists too many photos.`, false);
      if (items.length > 0) yield items;
      const next = Number(assets.optionalString("nextPage"));
      page = items.length > 0 && next > page ? next : undefined;
    }
  }

  /** The address of an asset's file as it was uploaded. */
  originalUrl(id: string): URL {
    return this.#url(`/api/assets/${encodeURIComponent(id)}/original`);
  }

  #get(endpoint: string, signal: AbortSignal): Promise<unknown> {
    return this.#read(endpoint, { signal });
  }

  async #read(endpoint: string, request: Parameters<ServerClient["readJson"]>[2]): Promise<unknown> {
    try {
      return await this.#client.readJson(this.#url(endpoint), endpoint.replace(/\?.*/, ""), request);
    } catch (error) {
      if (!(error instanceof StatusError) || error.status !== 403) throw error;
      const message = say`The API key may not read ${endpoint.replace(/\?.*/, "")}. Create one with these permissions: ${PERMISSIONS.join(", ")}.`;
      throw new SourceError(message, false);
    }
  }

  #url(endpoint: string): URL {
    return new URL(endpoint.slice(1), this.#root);
  }
}

/** Whether another server responded, or a version without this endpoint. */
function isNotFound(error: SourceError): boolean {
  return !(error instanceof StatusError) || error.status === 404;
}
