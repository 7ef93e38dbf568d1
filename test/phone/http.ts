// HTTP over an unreliable connection: a request may fail at any moment, and the server may have processed it or not.
import { createHash } from "node:crypto";
import { connect } from "node:net";

/**
 * The line failed, or the server is not available: the server may have processed the request or not. Try again later.
 */
export class LineDown extends Error {
  override readonly name = "LineDown";
}

/** A response that must not occur: a fault of the server, or of the phone. */
export class UnexpectedResponse extends Error {
  override readonly name = "UnexpectedResponse";
}

/** A received response, for checks that apply to all responses. */
export interface SeenResponse {
  method: string;
  /** The requested path with its query. */
  path: string;
  status: number;
  headers: Headers;
  /** The parsed body, if it is JSON and not the content of a file. */
  json: unknown;
}

/** A request. */
export interface PhoneRequest {
  method: string;
  url: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: Uint8Array<ArrayBuffer> | FormData;
}

/** The timeout of a request. */
const requestMsMax = 20_000;

/** A complete response. */
export class ApiResponse {
  constructor(
    readonly request: string,
    readonly status: number,
    readonly headers: Headers,
    readonly bytes: Uint8Array,
    readonly json: unknown,
  ) {}

  /** The value at a dotted path of the body; undefined if there is none. */
  at(path: string): unknown {
    return valueAt(this.json, path);
  }

  /** The value at a path, which must be a string. */
  text(path: string): string {
    const value = this.at(path);
    if (typeof value !== "string") throw this.unexpected(`${path} is no string`);
    return value;
  }

  /** The records of a list, which must exist. */
  records(path: string): Record<string, unknown>[] {
    const value = this.at(path);
    if (!Array.isArray(value)) throw this.unexpected(`${path} is no list`);
    return value.map((item) => {
      if (typeof item !== "object" || item === null) throw this.unexpected(`${path} holds ${JSON.stringify(item)}`);
      return item as Record<string, unknown>;
    });
  }

  /** `error.details.reason` of an error. */
  get reason(): string | undefined {
    const reason = this.at("error.details.reason");
    return typeof reason === "string" ? reason : undefined;
  }

  /** The error to throw if this response must not occur. */
  unexpected(why = "an unexpected response"): UnexpectedResponse {
    const body = new TextDecoder().decode(this.bytes.subarray(0, 2000));
    return new UnexpectedResponse(`${this.request}: ${why}: ${this.status} ${body}`);
  }

  /** This response, if its status is one of these. @throws UnexpectedResponse */
  expect(...statuses: number[]): this {
    if (!statuses.includes(this.status)) throw this.unexpected();
    return this;
  }
}

/** The value at a dotted path. */
export function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** A string field of a record, which must exist. */
export function textOf(record: unknown, path: string): string {
  const value = valueAt(record, path);
  if (typeof value !== "string") throw new UnexpectedResponse(`${path} is no string in ${JSON.stringify(record)}`);
  return value;
}

/** A string field of a record, if it exists. */
export function maybeText(record: unknown, path: string): string | undefined {
  const value = valueAt(record, path);
  return typeof value === "string" ? value : undefined;
}

/**
 * Sends a request over its own connection and reads the whole response.
 *
 * @throws LineDown if the line fails, or if the server responds that it is starting, stopping or busy
 */
export async function send(request: PhoneRequest, onResponse?: (response: SeenResponse) => void): Promise<ApiResponse> {
  const body = request.json === undefined ? request.body : JSON.stringify(request.json);
  let response: Response;
  let bytes: Uint8Array;
  try {
    response = await fetch(request.url, {
      method: request.method,
      headers: {
        ...(request.json === undefined ? {} : { "content-type": "application/json" }),
        ...request.headers,
      },
      redirect: "manual",
      keepalive: false,
      signal: AbortSignal.timeout(requestMsMax),
      ...(body === undefined ? {} : { body }),
    });
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    throw new LineDown(`${request.method} ${request.url}: ${error instanceof Error ? error.message : "failed"}`);
  }
  const announced = response.headers.get("content-length");
  if (announced !== null && request.method !== "HEAD" && response.status !== 304 && Number(announced) !== bytes.length)
    throw new LineDown(`${request.method} ${request.url}: the response was cut`);
  const isContent = response.ok && response.headers.has("content-disposition");
  const isJson = !isContent && (response.headers.get("content-type") ?? "").includes("json");
  const json = isJson && bytes.length > 0 ? parse(bytes) : undefined;
  const { pathname, search } = new URL(request.url);
  onResponse?.({
    method: request.method,
    path: pathname + search,
    status: response.status,
    headers: response.headers,
    json,
  });
  if (response.status === 503) throw new LineDown(`${request.method} ${pathname}: 503`);
  return new ApiResponse(`${request.method} ${pathname}${search}`, response.status, response.headers, bytes, json);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new LineDown(`a response that is no JSON: ${error instanceof Error ? error.message : ""}`);
  }
}

/** Sends the head of a PUT request and some bytes of its body, then closes the connection. */
export async function sendCut(
  url: string,
  headers: Record<string, string>,
  body: Uint8Array,
  sentBytes: number,
): Promise<void> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const lines = { host, "content-length": String(body.length), ...headers };
  const head = [
    `PUT ${pathname}${search} HTTP/1.1`,
    ...Object.entries(lines).map(([name, value]) => `${name}: ${value}`),
  ];
  await new Promise<void>((done) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      socket.write(body.subarray(0, sentBytes), () => socket.destroy());
    });
    // The request is meant to fail, so any error is fine.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => done());
  });
}

/** `sha256:<hex>` of bytes, as the API writes it. */
export function checksumOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
