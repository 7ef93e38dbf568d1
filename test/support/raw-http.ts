// Sends requests byte by byte: malformed heads, cut bodies, and paths that a URL parser would normalize.
import { type Socket, connect } from "node:net";
import { ApiResponse, toBytes } from "./client.ts";
import { boundary, formType } from "./multipart.ts";

/** Encodes head lines and a body as one HTTP/1.1 request. */
export function rawRequest(lines: string[], body: string | Uint8Array = ""): Buffer {
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), toBytes(body)]);
}

/** One chunk of a chunked transfer (RFC 9112 §7.1). An empty chunk ends the body. */
export function httpChunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

/**
 * A connection that writes any bytes and reads responses.
 * When the connection breaks, `response` rejects and `closed` resolves; `write` does not throw.
 */
export class RawConnection {
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<void>;
  private received = Buffer.alloc(0);
  private isClosed = false;
  private waiters: (() => void)[] = [];

  private constructor(private readonly socket: Socket) {
    socket.on("data", (bytes) => {
      this.received = Buffer.concat([this.received, typeof bytes === "string" ? Buffer.from(bytes) : bytes]);
      this.wake();
    });
    // A reset is followed by 'close'.
    socket.on("error", () => this.wake());
    this.closed = new Promise((done) => {
      socket.on("close", () => {
        this.isClosed = true;
        this.wake();
        done();
      });
    });
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect({ port, host: "127.0.0.1" });
    const connection = new RawConnection(socket);
    await new Promise<void>((done, fail) => {
      socket.once("connect", () => done());
      socket.once("error", fail);
    });
    return connection;
  }

  /** Writes and waits until the kernel accepts the bytes or the connection closes. */
  async write(bytes: string | Uint8Array): Promise<void> {
    if (this.isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.socket.once("close", resolve);
    this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes, () => resolve());
    await promise;
    this.socket.off("close", resolve);
  }

  /** Closes the connection at once with a reset. */
  cut(): void {
    this.socket.resetAndDestroy();
  }

  /** Closes the sending side. */
  end(): void {
    this.socket.end();
  }

  /**
   * Reads the next complete response. Skips interim responses (1xx).
   *
   * @throws Error if the connection closes before, or none is complete within `msMax` milliseconds
   */
  async response(method = "GET", msMax = 30_000): Promise<ApiResponse> {
    const end = Date.now() + msMax;
    for (;;) {
      const parsed = parseResponse(this.received, method, this.isClosed);
      if (parsed !== undefined) {
        this.received = this.received.subarray(parsed.length);
        if (parsed.response.status >= 200) return parsed.response;
        continue;
      }
      if (this.isClosed) throw new Error(`connection closed after ${JSON.stringify(this.received.toString("latin1"))}`);
      if (Date.now() > end) throw new Error(`no response, only ${JSON.stringify(this.received.toString("latin1"))}`);
      await new Promise<void>((done) => {
        const timer = setTimeout(done, end - Date.now() + 10);
        this.waiters.push(() => {
          clearTimeout(timer);
          done();
        });
      });
    }
  }

  private wake(): void {
    for (const done of this.waiters.splice(0)) done();
  }
}

/**
 * Starts an upload of `slow.txt` with the ten bytes `0123456789` and sends half of them.
 *
 * @returns the connection, and the rest that must still be written
 */
export async function sendHalfUpload(
  port: number,
  token: string,
): Promise<{ connection: RawConnection; rest: string }> {
  const start = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\n\r\n01234`;
  const rest = `56789\r\n--${boundary}--\r\n`;
  const connection = await RawConnection.open(port);
  await connection.write(
    `POST /api/files/upload HTTP/1.1\r\nHost: larder.test\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: ${formType}\r\nContent-Length: ${start.length + rest.length}\r\n\r\n${start}`,
  );
  return { connection, rest };
}

/**
 * Sends bytes on a new connection and reads one response.
 *
 * @returns undefined if the connection closes before the response is complete
 */
export async function sendRaw(port: number, request: Uint8Array, method = "GET"): Promise<ApiResponse | undefined> {
  const connection = await RawConnection.open(port);
  try {
    await connection.write(request);
    return await connection.response(method).catch(() => undefined);
  } finally {
    connection.cut();
  }
}

function parseResponse(
  bytes: Buffer,
  method: string,
  isClosed: boolean,
): { response: ApiResponse; length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const start = headEnd + 4;
  const complete = (body: Buffer, length: number) => ({
    response: new ApiResponse(status, headers, new Uint8Array(body)),
    length,
  });
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return complete(Buffer.alloc(0), start);
  if (headers.get("transfer-encoding")?.includes("chunked") === true) {
    const parts: Buffer[] = [];
    let at = start;
    for (;;) {
      const lineEnd = bytes.indexOf("\r\n", at);
      if (lineEnd < 0) return undefined;
      const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
      const next = lineEnd + 2 + size + 2;
      if (bytes.length < next) return undefined;
      if (size === 0) return complete(Buffer.concat(parts), next);
      parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
      at = next;
    }
  }
  const declared = headers.get("content-length");
  if (declared === null) return isClosed ? complete(bytes.subarray(start), bytes.length) : undefined;
  const end = start + Number(declared);
  return bytes.length < end ? undefined : complete(bytes.subarray(start, end), end);
}
