// An S3 service as a server of its own (s3rver), and before it a door that tests can close, slow down or make lie. The door
// also looks at what s3rver doesn't: whether every body is the one whose digest was signed.
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import S3rver from "s3rver";
import { temporaryDirectory } from "./server.ts";

/** How the service behaves. `hanging`: it takes requests and never answers. */
export type Mood = "well" | "failing" | "hanging" | "lying";

const BUCKET = "larder";
const KEY = "S3RVER";

/** A running service with one bucket. */
export class TestS3 {
  mood: Mood = "well";
  /** Requests that arrived, as `METHOD path`. */
  readonly requests: string[] = [];
  /** Bodies that were not what their signed digest says. */
  readonly wrongBodies: string[] = [];

  private answersLeft = Number.POSITIVE_INFINITY;

  private constructor(
    private readonly directory: string,
    private readonly service: S3rver,
    private readonly servicePort: number,
    private readonly door: Bun.Server<undefined>,
  ) {}

  static async start(): Promise<TestS3> {
    const directory = await temporaryDirectory();
    const service = new S3rver({
      address: "127.0.0.1",
      port: 0,
      silent: true,
      directory,
      configureBuckets: [{ name: BUCKET, configs: [] }],
    });
    const { port } = await service.run();
    const door = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      idleTimeout: 0,
      fetch: (request) => started.answer(request),
    });
    const started = new TestS3(directory, service, port, door);
    return started;
  }

  /** The settings of a Larder that keeps its contents here, as environment. */
  get settings(): Record<string, string> {
    return {
      LARDER_BLOBS_STORE: "s3",
      LARDER_S3_ENDPOINT: `http://127.0.0.1:${this.door.port}`,
      LARDER_S3_BUCKET: BUCKET,
      LARDER_S3_PREFIX: "home/larder",
      LARDER_S3_ACCESS_KEY_ID: KEY,
      LARDER_S3_SECRET_ACCESS_KEY: KEY,
    };
  }

  /** Keys of the contents in the bucket. */
  async contents(): Promise<string[]> {
    const url = `http://127.0.0.1:${this.servicePort}/${BUCKET}?list-type=2&prefix=home/larder/sha256/`;
    const response = await fetch(url);
    return [...(await response.text()).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key);
  }

  /** Whether a content is in the bucket, and its bytes are what its key says. */
  async has(digest: string): Promise<boolean> {
    const key = `home/larder/sha256/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
    const response = await fetch(`http://127.0.0.1:${this.servicePort}/${BUCKET}/${key}`);
    if (!response.ok) return false;
    return (
      createHash("sha256")
        .update(new Uint8Array(await response.arrayBuffer()))
        .digest("hex") === digest
    );
  }

  /** Fails from so many requests on; undefined: never. */
  failAfter(requests: number | undefined): void {
    this.answersLeft = requests ?? Number.POSITIVE_INFINITY;
  }

  /** Empties the bucket, and lets it work well. */
  async clear(): Promise<void> {
    this.mood = "well";
    this.failAfter(undefined);
    const url = `http://127.0.0.1:${this.servicePort}/${BUCKET}`;
    const listed = await (await fetch(`${url}?list-type=2`)).text();
    for (const [, key = ""] of listed.matchAll(/<Key>([^<]*)<\/Key>/g))
      await fetch(`${url}/${key}`, { method: "DELETE" });
  }

  async stop(): Promise<void> {
    await this.door.stop(true);
    await this.service.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  private async answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    this.requests.push(`${request.method} ${pathname}`);
    if (this.mood === "failing" || --this.answersLeft < 0)
      return new Response("<Error><Code>ServiceUnavailable</Code></Error>", { status: 503 });
    if (this.mood === "hanging") return new Promise(() => {});
    const body = new Uint8Array(await request.arrayBuffer());
    const digest = createHash("sha256").update(body).digest("hex");
    if (request.headers.get("x-amz-content-sha256") !== digest) this.wrongBodies.push(`${request.method} ${pathname}`);
    const headers = new Headers(request.headers);
    headers.delete("host");
    const response = await fetch(`http://127.0.0.1:${this.servicePort}${pathname}${search}`, {
      method: request.method,
      headers,
      ...(body.length > 0 && { body }),
    });
    if (this.mood !== "lying" || request.method !== "GET" || !pathname.includes("/sha256/")) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    return new Response(bytes, { status: response.status, headers: response.headers });
  }
}
