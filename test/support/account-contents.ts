// All that an account can see of what it holds, to be compared before and after something that must change none of it.
import { type Client, digestOf } from "./client.ts";

/** What an account holds, told without what changes by looking at it. */
export interface AccountContents {
  /** By path: the listing's record, the file's info, its versions, and the digest of what is downloaded. */
  readonly entries: Readonly<Record<string, unknown>>;
  readonly trash: readonly unknown[];
  readonly tags: unknown;
  readonly usage: unknown;
  readonly profile: unknown;
}

/** Fields that tell of visits, of links or of devices, not of what is held. */
const PASSING = new Set([
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

/** Asks for everything that a small account holds, a hundred entries a folder at most. */
export async function readAccountContents(client: Client): Promise<AccountContents> {
  const entries: Record<string, unknown> = {};
  const folders = ["/"];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const listing = await ask(client, `/api/files?folder=${encodeURIComponent(folder)}&limit=100`);
    for (const item of listing.list("data.files")) {
      const { id, type, name } = fieldsOf(item);
      const path = `${folder === "/" ? "" : folder}/${name}`;
      if (type === "folder") {
        folders.push(path);
        entries[path] = settled(item);
        continue;
      }
      const info = await ask(client, `/api/files/${id}`);
      const versions = await ask(client, `/api/files/${id}/versions`);
      const contents: Record<string, string> = {};
      for (const one of versions.list("data.versions")) {
        const version = String(Reflect.get(Object(one), "version"));
        const { bytes } = await ask(client, `/api/files/${id}/versions/${version}/download`);
        contents[version] = digestOf(bytes);
      }
      const { bytes } = await ask(client, `/api/files/${id}/download`);
      const read = { digest: digestOf(bytes), contents };
      entries[path] = settled({ item, info: info.at("data"), versions: versions.at("data"), read });
    }
  }
  const trash = await ask(client, "/api/files/trash?limit=100");
  const usage = await ask(client, "/api/users/usage");
  return {
    entries,
    trash: trash.list("data.files").map(settled),
    tags: (await ask(client, "/api/files/tags")).at("data"),
    usage: { storage: usage.at("data.storage"), byType: usage.at("data.byType") },
    profile: settled((await ask(client, "/api/users/profile")).at("data")),
  };
}

async function ask(client: Client, path: string) {
  const response = await client.get(path);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text.slice(0, 500)}`);
  return response;
}

function fieldsOf(item: unknown): { id: string; type: string; name: string } {
  const [id, type, name] = ["id", "type", "name"].map((field) => String(Reflect.get(Object(item), field)));
  return { id: id ?? "", type: type ?? "", name: name ?? "" };
}

/** The same value without passing fields, however deep, and without the address, which is another one after a restart. */
function settled(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/^http:\/\/127\.0\.0\.1:\d+/, "");
  if (Array.isArray(value)) return value.map(settled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (PASSING.has(key) ? [] : [[key, settled(inner)] as const])),
  );
}
