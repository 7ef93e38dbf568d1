import { type ImportSource, type LeftOut, SourceError, type SourceEntry, type SourceFile } from "../../source.ts";
import { download } from "../server/download.ts";
import type { SourceNetwork } from "../server/network.ts";
import { ServerClient, type ServerClientOptions } from "../server/server-client.ts";
import { ImmichApi, type SearchQuery } from "./api.ts";
import { type Asset, extensionOf, toAsset } from "./asset.ts";
import { type Collections, readCollections } from "./collections.ts";
import { LeftOutCounts } from "./left-out-counts.ts";
import { UniquePaths } from "./unique-paths.ts";
import { say } from "../../../../../translations/say.ts";

/** Options of {@link ImmichSource}. */
export interface ImmichSourceOptions extends Pick<ServerClientOptions, "clock" | "backoff"> {
  readonly network: SourceNetwork;
  /** The address of an Immich server, or of one of its pages. */
  readonly address: string;
  readonly apiKey: string;
  /** How many photos all lists together may have. */
  readonly listedMax?: number;
}

/** What is needed to offer assets. */
interface Reading {
  readonly userId: string;
  readonly collections: Collections;
  readonly paths: UniquePaths;
  readonly counts: LeftOutCounts;
  /** IDs of the assets that were listed. */
  readonly seen: Set<string>;
  readonly signal: AbortSignal;
}

const REJECTION = say`Immich rejected the API key. In Immich, open the account settings, select API Keys, and create a new one.`;

/** The photos and videos of an account of an Immich server. */
export class ImmichSource implements ImportSource {
  readonly kind = "immich";
  readonly mergesCopies = true;
  /** The IDs of assets are unique among all servers. */
  readonly identity = "immich";
  readonly #client: ServerClient;
  readonly #api: ImmichApi;

  /** @throws SourceError if the address is invalid */
  constructor({ address, apiKey, listedMax, ...options }: ImmichSourceOptions) {
    this.#client = new ServerClient(address, {
      ...options,
      credentials: { "x-api-key": apiKey },
      rejection: REJECTION,
    });
    this.#api = new ImmichApi(this.#client, listedMax);
  }

  async *entries(signal: AbortSignal): AsyncGenerator<SourceEntry> {
    await this.#api.connect(signal);
    const userId = await this.#api.userId(signal);
    const total = await this.#api.count("", signal);
    yield { type: "total", files: total, sizeBytes: undefined };
    for (const leftOut of await this.#describeRest(signal)) yield leftOutEntry(leftOut);
    const collections = await readCollections(this.#api, userId, signal);
    for (const leftOut of collections.leftOut) yield leftOutEntry(leftOut);
    for (const album of collections.albums) yield { type: "album", album };
    const counts = new LeftOutCounts(total);
    const reading: Reading = { userId, collections, paths: new UniquePaths(), counts, seen: new Set(), signal };
    for (const query of this.#queries("asc")) yield* this.#search(query, reading);
    // Immich does not order photos of the same time, so one can be in no page. In the other direction, it is in one.
    for (const query of counts.missing > 0 ? this.#queries("desc") : []) yield* this.#search(query, reading);
    for (const leftOut of counts.list()) yield leftOutEntry(leftOut);
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  /** Searches that find all assets, but not those in the trash, and not the videos of live photos. */
  #queries(order: "asc" | "desc"): SearchQuery[] {
    const query = { withExif: true, withStacked: true, order };
    if (!this.#api.isAtLeast(1, 133)) return [{ ...query, isVisible: true, withArchived: true }];
    return [
      { ...query, visibility: "timeline" },
      { ...query, visibility: "archive" },
    ];
  }

  async *#search(query: SearchQuery, reading: Reading): AsyncGenerator<SourceEntry> {
    for await (const page of this.#api.search(query, reading.signal)) {
      for (const fields of page) {
        reading.signal.throwIfAborted();
        this.#client.checkAccess();
        const asset = toAsset(fields);
        if (reading.seen.has(asset.id)) continue;
        reading.seen.add(asset.id);
        if (asset.ownerId !== reading.userId) reading.counts.ofPartners++;
        else if (!asset.isTrashed && !asset.isHidden) yield* this.#offer(asset, reading);
      }
    }
  }

  async *#offer(asset: Asset, reading: Reading): AsyncGenerator<SourceEntry> {
    const { collections, counts, paths } = reading;
    counts.note(asset);
    if (asset.isOffline) {
      const message = say`Immich can't find the file: it is on a disk that is not connected.`;
      yield leftOutEntry({ name: `${asset.month}/${asset.fileName}`, reason: "unreadable", message });
      return;
    }
    const video = asset.videoId === undefined ? undefined : await this.#findVideo(asset.videoId, reading.signal);
    const hasVideo = video !== undefined && !(video instanceof SourceError);
    const videoExtension = hasVideo ? extensionOf(video.fileName) || ".mp4" : "";
    const [path, videoPath] = paths.take(asset.month, asset.fileName, videoExtension);
    const [tags, albums] = [collections.tagsOf.get(asset.id), collections.albumsOf.get(asset.id)];
    const details = { ...asset.details, ...(tags && { tags }), ...(albums && { albums }) };
    yield { type: "file", file: this.#toFile(asset, path, details) };
    if (video instanceof SourceError) {
      const message = say`The video of this live photo is missing: ${video.text}`;
      yield leftOutEntry({ name: path, reason: "unreadable", message });
    } else if (video !== undefined) {
      const { capturedAt, location } = asset.details;
      const ofVideo = { ...(capturedAt !== undefined && { capturedAt }), ...(location && { location }) };
      yield { type: "file", file: this.#toFile(video, videoPath, ofVideo) };
    }
  }

  /** @returns why the server does not have it, if it does not */
  async #findVideo(id: string, signal: AbortSignal): Promise<Asset | SourceError> {
    try {
      return toAsset(await this.#api.asset(id, signal));
    } catch (error) {
      if (error instanceof SourceError && !error.isTemporary) return error;
      throw error;
    }
  }

  #toFile({ id, checksum, sizeBytes, modifiedMs }: Asset, path: string, details: SourceFile["details"]): SourceFile {
    const content = new Bun.CryptoHasher("sha1").update(JSON.stringify([checksum?.hex, modifiedMs, details]));
    return {
      key: id,
      version: content.digest("hex"),
      path,
      sizeBytes,
      modifiedMs,
      details,
      open: (signal) => download(this.#client, this.#api.originalUrl(id), { checksum }, signal),
    };
  }

  /** What is not imported, as far as the server counts it. */
  async #describeRest(signal: AbortSignal): Promise<LeftOut[]> {
    const isNewer = this.#api.isAtLeast(1, 133);
    const trashed = await this.#api.count("?isTrashed=true", signal);
    const archived = await this.#api.count(isNewer ? "?visibility=archive" : "?isArchived=true", signal);
    const people = (await this.#api.countPeople(signal)) ?? 0;
    const rest: (LeftOut & { readonly count: number })[] = [
      {
        name: "Trash",
        reason: "trashed",
        count: trashed,
        message: say`Photos in the trash are not imported. Restore in Immich what you need.`,
      },
      {
        name: "Archive",
        reason: "unsupported",
        count: archived,
        message: say`Larder has no archive. Archived photos are imported, and shown with all others.`,
      },
      {
        name: "People",
        reason: "unsupported",
        count: people,
        message: say`Larder does not recognize faces. The names of people are not imported.`,
      },
    ];
    const locked: LeftOut = {
      name: "Locked folder",
      reason: "unsupported",
      message: say`An API key can't read the locked folder. Move photos out of it before the import, if it has any.`,
    };
    return [...rest.filter(({ count }) => count > 0), ...(isNewer ? [locked] : [])];
  }
}

function leftOutEntry(leftOut: LeftOut): SourceEntry {
  return { type: "leftOut", leftOut };
}
