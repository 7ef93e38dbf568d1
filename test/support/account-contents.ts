// Reads everything in an account, to compare it before and after an operation that must not change it.
import { type ApiResponse, type Client, digestOf } from "./client.ts";
import { eventually } from "./expect.ts";

/** Everything in an account, without fields that change by reading. */
export interface AccountContents {
  /** By path: the record in the listing, the file's info, its versions, and the digests of the downloads. */
  readonly entries: Readonly<Record<string, unknown>>;
  readonly trash: readonly unknown[];
  readonly tags: unknown;
  /** Every album with the ids of its files, in order. */
  readonly albums: readonly unknown[];
  readonly usage: unknown;
  readonly profile: unknown;
}

/** Fields about accesses, links and devices. */
const IGNORED_FIELDS = new Set([
  "downloads",
  "downloadCount",
  "lastAccessedAt",
  "lastAccessed",
  "url",
  "shareUrl",
  "publicUrl",
  "shares",
  "thumbnailUrl",
  "downloadUrl",
]);

/** Reads everything in a small account with at most 100 items per folder. */
export async function readAccountContents(client: Client): Promise<AccountContents> {
  const entries: Record<string, unknown> = {};
  const folders = ["/"];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const listing = await listWithSizes(client, folder);
    for (const item of listing.list("data.files")) {
      const { id, type, name } = fieldsOf(item);
      const path = `${folder === "/" ? "" : folder}/${name}`;
      if (type === "folder") {
        folders.push(path);
        entries[path] = withoutIgnoredFields(item);
        continue;
      }
      const info = await get(client, `/api/files/${id}`);
      const versions = await get(client, `/api/files/${id}/versions`);
      const versionDigests: Record<string, string> = {};
      for (const one of versions.list("data.versions")) {
        const version = String(Reflect.get(Object(one), "version"));
        const { bytes } = await get(client, `/api/files/${id}/versions/${version}/download`);
        versionDigests[version] = digestOf(bytes);
      }
      const { bytes } = await get(client, `/api/files/${id}/download`);
      const read = { digest: digestOf(bytes), versionDigests };
      entries[path] = withoutIgnoredFields({ item, info: info.at("data"), versions: versions.at("data"), read });
    }
  }
  const trash = await get(client, "/api/files/trash?limit=100");
  const usage = await get(client, "/api/users/usage");
  return {
    entries,
    trash: trash.list("data.files").map(withoutIgnoredFields),
    tags: (await get(client, "/api/files/tags")).at("data"),
    albums: await readAlbums(client),
    usage: { storage: usage.at("data.storage"), byType: usage.at("data.byType") },
    profile: withoutIgnoredFields((await get(client, "/api/users/profile")).at("data")),
  };
}

/** Lists a folder once the sizes of its folders are known: after a rebuild, they are added up in the background. */
async function listWithSizes(client: Client, folder: string): Promise<ApiResponse> {
  const list = () => get(client, `/api/files?folder=${encodeURIComponent(folder)}&limit=100`);
  let listing = await list();
  await eventually("the sizes of the folders are known", async () => {
    if (listing.list("data.files").every((item) => Reflect.get(Object(item), "size") !== null)) return true;
    listing = await list();
    return false;
  });
  return listing;
}

async function readAlbums(client: Client): Promise<unknown[]> {
  const albums = (await get(client, "/api/albums")).list("data.albums");
  return Promise.all(
    albums.map(async (album) => {
      const items = await get(client, `/api/albums/${fieldsOf(album).id}/items?limit=500`);
      return withoutIgnoredFields({ album, items: items.strings("data.items", "id") });
    }),
  );
}

async function get(client: Client, path: string) {
  const response = await client.get(path);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text.slice(0, 500)}`);
  return response;
}

function fieldsOf(item: unknown): { id: string; type: string; name: string } {
  const [id, type, name] = ["id", "type", "name"].map((field) => String(Reflect.get(Object(item), field)));
  return { id: id ?? "", type: type ?? "", name: name ?? "" };
}

/** The value without ignored fields at any depth, and without the server's address, which changes with a restart. */
function withoutIgnoredFields(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/^http:\/\/127\.0\.0\.1:\d+/, "");
  if (Array.isArray(value)) return value.map(withoutIgnoredFields);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      IGNORED_FIELDS.has(key) ? [] : [[key, withoutIgnoredFields(inner)] as const],
    ),
  );
}
