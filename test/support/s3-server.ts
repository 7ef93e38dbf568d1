// An S3 service (s3rver) behind a proxy that tests can make fail, hang or send wrong bytes.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import S3rver from "s3rver";
import FilesystemStore from "s3rver/lib/stores/filesystem.js";
import { temporaryDirectory } from "./server.ts";

/**
 * How the service behaves. `hanging`: it never responds; `hanging-amid`: it stops in the middle of a body; `short`: it
 * ends the body in the middle; `whole`: it ignores Range; `lying`: it sends other bytes than it has; `mangling`: it
 * stores other bytes than it received; `sealing`: its ETags are not checksums.
 */
export type S3Behavior =
  | "well"
  | "failing"
  | "hanging"
  | "hanging-amid"
  | "short"
  | "whole"
  | "lying"
  | "mangling"
  | "sealing";

/**
 * What the service does with `If-None-Match: *`. `known`: it creates the object only if the key is missing; `unknown`: it
 * rejects the request, as OpenStack Swift does; `ignored`: it replaces the object; `racing`: it checks first and writes later,
 * so that several requests at once succeed.
 */
export type S3Conditions = "known" | "unknown" | "ignored" | "racing";

/*
 * s3rver responds when it has received an object, before it has written it. A request right after that finds the object
 * empty. It also fails if several clients use it at once: one reads metadata that another is writing, or writes to a folder
 * that another removes. These replacements respond when everything is written, replace whole files, and leave folders.
 */
const writeMetadata = FilesystemStore.prototype.putMetadata;
FilesystemStore.prototype.putMetadata = async function (bucket, key, metadata, md5) {
  const unfinished = `${key}.${crypto.randomUUID()}`;
  await writeMetadata.call(this, bucket, unfinished, metadata, md5);
  for (const resource of md5 === undefined ? ["metadata.json"] : ["object.md5", "metadata.json"])
    await rename(this.getResourcePath(bucket, unfinished, resource), this.getResourcePath(bucket, key, resource));
};
FilesystemStore.prototype.putObject = async function (object) {
  const { bucket, key, metadata, content } = object;
  const path = this.getResourcePath(bucket, key, "object");
  const { unfinished, ...stored } = await writeUnfinished(
    path,
    Buffer.isBuffer(content) ? Readable.from([content]) : content,
  );
  await this.putMetadata(bucket, key, metadata, stored.md5);
  await rename(unfinished, path);
  return stored;
};
FilesystemStore.prototype.putPart = async function (bucket, uploadId, partNumber, content) {
  const path = join(this.getResourcePath(bucket, undefined, "uploads"), uploadId, String(partNumber));
  const { unfinished, ...stored } = await writeUnfinished(path, content);
  await writeFile(`${path}.md5`, stored.md5);
  await rename(unfinished, path);
  return stored;
};
FilesystemStore.prototype.deleteObject = async function (bucket, key) {
  const resources = ["object", "object.md5", "metadata.json"];
  await Promise.all(resources.map((resource) => rm(this.getResourcePath(bucket, key, resource), { force: true })));
};

/*
 * s3rver lists keys in the order of the directories on its disk, and fails if a file disappears during that. S3 lists them
 * by their bytes, and a page begins after the last key of the page before it.
 */
const listUnordered = FilesystemStore.prototype.listObjects;
FilesystemStore.prototype.listObjects = async function (bucket, options) {
  const { maxKeys = Number.POSITIVE_INFINITY } = options;
  const list = () => listUnordered.call(this, bucket, { ...options, maxKeys: Number.POSITIVE_INFINITY });
  const listAgain = (error: unknown): ReturnType<typeof list> => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return list().catch(listAgain);
    throw error;
  };
  const found = await list().catch(listAgain);
  const objects = found.objects.toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  return { ...found, objects: objects.slice(0, maxKeys), isTruncated: objects.length > maxKeys };
};

/** Writes content next to a path, under a name of its own. */
async function writeUnfinished(
  path: string,
  content: Readable,
): Promise<{ unfinished: string; size: number; md5: string }> {
  const hash = createHash("md5");
  let size = 0;
  const count = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      hash.update(bytes);
      size += bytes.length;
      done(null, bytes);
    },
  });
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${crypto.randomUUID()}`;
  await pipeline(content, count, createWriteStream(unfinished));
  return { unfinished, size, md5: hash.digest("hex") };
}

const BUCKET = "larder";
/** The key of the object that names the owner of the bucket. */
export const OWNER_MARKER = "home/larder/larder-store.json";
const KEY = "S3RVER";

function s3Error(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code></Error>`, { status });
}

/** The key of a blob's object. */
function keyOf(digest: string): string {
  return `home/larder/sha256/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
}

/** A running service with one bucket. */
export class TestS3 {
  behavior: S3Behavior = "well";
  conditions: S3Conditions = "known";
  /** Creations happen one after the other. */
  private creation: Promise<unknown> = Promise.resolve();
  /** Requests received, as `METHOD path`. */
  readonly requests: string[] = [];

  /** Called with each request, which waits for it. */
  onRequest: (request: string) => Promise<void> | void = () => {};

  /** Blobs whose download always breaks off in the middle, as for an object that is truncated on disk. */
  readonly cut = new Set<string>();

  private responsesLeft = Number.POSITIVE_INFINITY;

  private constructor(
    private readonly directory: string,
    private readonly service: S3rver,
    private readonly servicePort: number,
    private readonly proxy: Bun.Server<undefined>,
  ) {}

  /** @param hostname where it listens */
  static async start({ hostname = "127.0.0.1" } = {}): Promise<TestS3> {
    const directory = await temporaryDirectory();
    const service = new S3rver({
      address: "127.0.0.1",
      port: 0,
      silent: true,
      directory,
      configureBuckets: [{ name: BUCKET, configs: [] }],
    });
    const { port } = await service.run();
    const proxy = Bun.serve({
      hostname,
      port: 0,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: 0,
      fetch: (request) => testS3.reply(request),
    });
    const testS3 = new TestS3(directory, service, port, proxy);
    return testS3;
  }

  /** The settings of a server that keeps its blobs here, as environment variables. */
  get settings(): Record<string, string> {
    return {
      LARDER_BLOBS_STORE: "s3",
      LARDER_S3_ENDPOINT: `http://127.0.0.1:${this.proxy.port}`,
      LARDER_S3_BUCKET: BUCKET,
      LARDER_S3_PREFIX: "home/larder",
      LARDER_S3_ACCESS_KEY_ID: KEY,
      LARDER_S3_SECRET_ACCESS_KEY: KEY,
    };
  }

  /** The keys of all blobs in the bucket. */
  contents(): Promise<string[]> {
    return this.keys("home/larder/sha256/");
  }

  /** The keys of all objects below a prefix. */
  async keys(prefix: string): Promise<string[]> {
    const url = `http://127.0.0.1:${this.servicePort}/${BUCKET}?list-type=2&prefix=${prefix}`;
    const response = await fetch(url);
    return [...(await response.text()).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key).sort();
  }

  /** Copies all objects below a prefix into a folder, under the rest of their keys. */
  async copyTo(prefix: string, folder: string): Promise<void> {
    const from = join(this.directory, BUCKET, prefix);
    for (const path of await readdir(from, { recursive: true })) {
      const key = path.replace(/\._S3rver_object$/, "");
      if (key === path) continue;
      await mkdir(dirname(join(folder, key)), { recursive: true });
      await cp(join(from, path), join(folder, key));
    }
  }

  /** Removes a blob from the bucket without the server's knowledge. */
  async remove(digest: string): Promise<void> {
    await fetch(this.urlOf(digest), { method: "DELETE" });
  }

  /**
   * Replaces the bytes of a blob without the server's knowledge.
   * @param change computes the new bytes from the old ones
   */
  async replace(digest: string, change: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>): Promise<void> {
    await this.put(digest, change(new Uint8Array(await (await fetch(this.urlOf(digest))).arrayBuffer())));
  }

  /** Writes bytes under the key of a blob without the server's knowledge. */
  async put(digest: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const headers = { "content-type": "application/octet-stream" };
    const reply = await fetch(this.urlOf(digest), { method: "PUT", body: bytes, headers });
    if (!reply.ok) throw new Error(`the bucket rejected the object: ${reply.status} ${await reply.text()}`);
  }

  /** Flips a bit of a blob. The object keeps its length and gets another ETag. */
  async corrupt(digest: string): Promise<void> {
    await this.replace(digest, (bytes) => bytes.map((byte, index) => (index === 0 ? byte ^ 1 : byte)));
  }

  /** Flips a bit of a blob on disk, as a bad disk does. The service keeps returning the old ETag. */
  async corruptSilently(digest: string): Promise<void> {
    const path = join(this.directory, BUCKET, `${keyOf(digest)}._S3rver_object`);
    const bytes = await readFile(path);
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    await writeFile(path, bytes);
  }

  /** Whether a blob is in the bucket and its bytes match the digest in its key. */
  async has(digest: string): Promise<boolean> {
    const response = await fetch(this.urlOf(digest));
    if (!response.ok) return false;
    return (
      createHash("sha256")
        .update(new Uint8Array(await response.arrayBuffer()))
        .digest("hex") === digest
    );
  }

  /** Reads any object as text; undefined if it is missing. */
  async readObject(key: string): Promise<string | undefined> {
    const response = await fetch(`http://127.0.0.1:${this.servicePort}/${BUCKET}/${key}`);
    return response.ok ? response.text() : undefined;
  }

  /** Writes any object. */
  async writeObject(key: string, text: string): Promise<void> {
    await fetch(`http://127.0.0.1:${this.servicePort}/${BUCKET}/${key}`, { method: "PUT", body: text });
  }

  private urlOf(digest: string): string {
    return `http://127.0.0.1:${this.servicePort}/${BUCKET}/${keyOf(digest)}`;
  }

  /** Fails all requests after this many; undefined means never. */
  failAfter(requests: number | undefined): void {
    this.responsesLeft = requests ?? Number.POSITIVE_INFINITY;
  }

  /** Empties the bucket and makes it behave well. */
  async clear(): Promise<void> {
    this.behavior = "well";
    this.cut.clear();
    this.failAfter(undefined);
    const url = `http://127.0.0.1:${this.servicePort}/${BUCKET}`;
    const listed = await (await fetch(`${url}?list-type=2`)).text();
    for (const [, key = ""] of listed.matchAll(/<Key>([^<]*)<\/Key>/g))
      await fetch(`${url}/${key}`, { method: "DELETE" });
  }

  /** Copies the whole bucket to a path. */
  async save(path: string): Promise<void> {
    await cp(join(this.directory, BUCKET), path, { recursive: true });
  }

  /** Restores the bucket from a saved copy and makes it behave well. */
  async load(path: string): Promise<void> {
    await this.clear();
    await cp(path, join(this.directory, BUCKET), { recursive: true });
  }

  async stop(): Promise<void> {
    await this.proxy.stop(true);
    await this.service.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  private async reply(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const line = `${request.method} ${pathname}${search}`;
    this.requests.push(line);
    await this.onRequest(line);
    if (this.behavior === "failing" || --this.responsesLeft < 0)
      return new Response("<Error><Code>ServiceUnavailable</Code></Error>", { status: 503 });
    if (this.behavior === "hanging") return new Promise(() => {});
    const body = new Uint8Array(await request.arrayBuffer());
    if (this.behavior === "mangling" && request.method === "PUT") body[0] = (body[0] ?? 0) ^ 1;
    const headers = new Headers(request.headers);
    headers.delete("host");
    if (this.behavior === "whole") headers.delete("range");
    const forward = () =>
      fetch(`http://127.0.0.1:${this.servicePort}${pathname}${search}`, {
        method: request.method,
        headers,
        ...(body.length > 0 && { body }),
      });
    const isCreation = request.method === "PUT" && headers.get("if-none-match") === "*";
    const response = await (isCreation ? this.create(pathname, forward) : forward());
    if (this.behavior === "sealing" && ["HEAD", "PUT"].includes(request.method)) {
      const sealed = new Headers(response.headers);
      sealed.set("etag", '"0123456789abcdef0123456789abcdef"');
      return new Response(null, { status: response.status, headers: sealed });
    }
    // A stream would have no Content-Length, which Litestream needs.
    if (request.method === "GET" && pathname.includes("/wal/")) return new Response(await response.bytes(), response);
    if (request.method !== "GET" || !pathname.includes("/sha256/") || !response.ok) return response;
    return this.spoil(response, this.cut.has(pathname.slice(pathname.lastIndexOf("/") + 1)));
  }

  /** Writes an object only if its key is missing, if the service knows this. */
  private create(pathname: string, write: () => Promise<Response>): Promise<Response> {
    if (this.conditions === "ignored") return write();
    if (this.conditions === "unknown") return Promise.resolve(s3Error(501, "NotImplemented"));
    const before = this.conditions === "racing" ? Promise.resolve() : this.creation;
    const created = before.then(async () => {
      const found = await fetch(`http://127.0.0.1:${this.servicePort}${pathname}`, { method: "HEAD" });
      return found.ok ? s3Error(412, "PreconditionFailed") : write();
    });
    this.creation = created.catch(() => undefined);
    return created;
  }

  /** Falsifies or cuts a download as the current behavior demands. */
  private async spoil(response: Response, isCut: boolean): Promise<Response> {
    if (!isCut && !["lying", "hanging-amid", "short"].includes(this.behavior)) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const { status, headers } = response;
    if (this.behavior === "lying") {
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      return new Response(bytes, { status, headers });
    }
    const isHanging = this.behavior === "hanging-amid";
    async function* sendHalf() {
      yield bytes.subarray(0, bytes.length / 2);
      if (isCut) throw new Error("The object ends here.");
      if (isHanging) await new Promise(() => {});
    }
    return new Response(sendHalf(), { status });
  }
}
