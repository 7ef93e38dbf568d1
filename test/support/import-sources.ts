// Reads sources of imports, and serves what their servers would respond.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import { afterAll } from "bun:test";
import type { ImportSource, LeftOut, SourceAlbum, SourceFile } from "../../src/features/storage/imports/source.ts";

/** Everything that a source offers, in order. */
export interface Offered {
  readonly files: SourceFile[];
  readonly albums: SourceAlbum[];
  readonly leftOut: (Omit<LeftOut, "message"> & { readonly message: string })[];
  readonly totals: { readonly files: number | undefined; readonly sizeBytes: number | undefined }[];
}

/** Reads all entries of a source. */
export async function readSource(source: ImportSource, signal = new AbortController().signal): Promise<Offered> {
  const offered: Offered = { files: [], albums: [], leftOut: [], totals: [] };
  for await (const entry of source.entries(signal)) {
    if (entry.type === "file") offered.files.push(entry.file);
    else if (entry.type === "album") offered.albums.push(entry.album);
    else if (entry.type === "leftOut") {
      offered.leftOut.push({ ...entry.leftOut, message: entry.leftOut.message.english });
    } else offered.totals.push({ files: entry.files, sizeBytes: entry.sizeBytes });
  }
  return offered;
}

/** The content of a file of a source. */
export async function readContent(
  file: SourceFile | undefined,
  signal = new AbortController().signal,
): Promise<Uint8Array> {
  if (file === undefined) throw new Error("the source has no such file");
  const parts: Uint8Array[] = [];
  for await (const part of await file.open(signal)) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

/** A request that a {@link ScriptedServer} received. */
export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** What a {@link ScriptedServer} responds. */
export interface ScriptedResponse {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  /** The connection breaks after this many bytes of the body. */
  readonly cutAfter?: number;
}

/** Responds to requests as a test says. Records what it receives. */
export class ScriptedServer {
  readonly requests: ReceivedRequest[] = [];
  readonly #server: Server;
  #respond: (request: ReceivedRequest) => ScriptedResponse | undefined = () => undefined;

  constructor() {
    this.#server = createServer((incoming, response) => void this.#serve(incoming, response));
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  /** Sets the responses; undefined means 404. */
  respond(respond: (request: ReceivedRequest) => ScriptedResponse | undefined): void {
    this.#respond = respond;
    this.requests.length = 0;
  }

  /** Without a slash at the end. */
  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the server doesn't listen");
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(Buffer.from(part));
    const body = Buffer.concat(parts).toString();
    const request = { method: incoming.method ?? "", path: incoming.url ?? "", headers: incoming.headers, body };
    this.requests.push(request);
    const scripted = this.#respond(request) ?? { status: 404 };
    const bytes = Buffer.from(scripted.body ?? "");
    response.writeHead(scripted.status ?? 200, { "content-length": String(bytes.byteLength), ...scripted.headers });
    if (scripted.cutAfter === undefined) response.end(bytes);
    else response.write(bytes.subarray(0, scripted.cutAfter), () => response.socket?.destroy());
  }
}

/** A {@link ScriptedServer} that runs during the tests of a file. */
export async function scriptedServer(): Promise<ScriptedServer> {
  const server = await new ScriptedServer().start();
  afterAll(() => server.close());
  return server;
}
