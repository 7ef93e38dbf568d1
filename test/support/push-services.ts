// Local push services, one for each channel. They implement the real protocols strictly: they verify signatures,
// decrypt payloads and require headers. They reject an invalid request as the real service would, and record why in
// `faults`.
import { createDecipheriv, createECDH, createPublicKey, type ECDH, hkdfSync, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { decodeProtectedHeader, importJWK, importSPKI, jwtVerify } from "jose";

const fixtures = join(import.meta.dir, "../fixtures/tls");

/** A self-signed certificate for `push.test` and `127.0.0.1`, and its key. */
export const tlsKey = readFileSync(join(fixtures, "key.pem"), "utf8");
export const tlsCertificate = readFileSync(join(fixtures, "certificate.pem"), "utf8");

/** What a service does with a valid request. */
export type PushBehavior =
  /** Responds. A body that is a function is written repeatedly without end. */
  | {
      status: number;
      headers?: Record<string, string>;
      body?: string | (() => string);
    }
  /** Reads the request and never responds. */
  | "silence"
  /** Sends bytes that violate the protocol. */
  | "garbage"
  /** Closes the connection. */
  | "cut";

/** A message as the app receives it. */
export interface ReceivedPush {
  title: string;
  body: string;
  /** All other fields. */
  data: Record<string, unknown>;
  headers: Record<string, string>;
}

/** The common part of all services. */
export abstract class PushService {
  /** Valid messages in order of arrival, decoded as the app would. */
  readonly received: ReceivedPush[] = [];
  /** Why other requests were invalid. */
  readonly faults: string[] = [];
  /** How the next requests are treated; the last entry stays. When empty, the service accepts them. */
  behaviors: PushBehavior[] = [];
  /** Called for each request that has arrived completely. */
  onRequest: () => void = () => {};

  /** Address, with scheme and port. */
  abstract get url(): string;
  abstract stop(): Promise<void>;

  /** How to treat the next request; undefined means accept the message. */
  protected next(): PushBehavior | undefined {
    return this.behaviors.length > 1 ? this.behaviors.shift() : this.behaviors[0];
  }
}

/** A service over HTTP/1.1. */
abstract class HttpPushService extends PushService {
  private readonly server: Server;
  private readonly scheme: "http" | "https";

  constructor(isTls = false) {
    super();
    const onRequest = (request: IncomingMessage, response: ServerResponse) => void this.serve(request, response);
    this.scheme = isTls ? "https" : "http";
    this.server = isTls
      ? createTlsServer({ key: tlsKey, cert: tlsCertificate }, onRequest)
      : createServer({}, onRequest);
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", () => resolve()));
    return this;
  }

  override get url(): string {
    return `${this.scheme}://127.0.0.1:${portOf(this.server.address())}`;
  }

  override async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  /** Reads a request. @returns how to respond @throws Error if the request is invalid */
  protected abstract take(request: IncomingMessage, body: Buffer): Promise<PushBehavior>;

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    let behavior: PushBehavior;
    try {
      behavior = await this.take(request, Buffer.concat(chunks));
    } catch (error) {
      this.faults.push(error instanceof Error ? error.message : String(error));
      behavior = { status: 400, body: "{}" };
    }
    this.onRequest();
    if (behavior === "silence") return;
    if (behavior === "garbage") {
      request.socket.end("This is not an HTTP response\r\n\r\n");
    } else if (behavior === "cut") {
      request.socket.destroy();
    } else {
      const { status, headers = {}, body = "" } = behavior;
      response.writeHead(status, headers);
      if (typeof body === "string") response.end(body);
      else writeEndlessly(response, body);
    }
  }
}

/** The push service of a browser (RFC 8030). It has the private keys of its subscriptions and decrypts the messages. */
export class WebPushService extends HttpPushService {
  readonly #curve: ECDH = createECDH("prime256v1");
  readonly #auth = randomBytes(16);

  /** @param vapidPublicKey the key that browsers subscribed with; other senders are rejected */
  constructor(
    readonly vapidPublicKey: string,
    isTls = false,
  ) {
    super(isTls);
    this.#curve.generateKeys();
  }

  /** A subscription to this service, in the form of `JSON.stringify(subscription)`. */
  subscription(endpoint = `${this.url}/send/secret-of-one-browser`): string {
    const keys = { p256dh: this.#curve.getPublicKey("base64url"), auth: this.#auth.toString("base64url") };
    return JSON.stringify({ endpoint, expirationTime: null, keys });
  }

  protected override async take(request: IncomingMessage, body: Buffer): Promise<PushBehavior> {
    const headers = plainHeaders(request.headers);
    must(request.method === "POST", "POST");
    must(/^\d+$/.test(headers["ttl"] ?? ""), "TTL (RFC 8030 §5.2)");
    must(/^(very-low|low|normal|high)$/.test(headers["urgency"] ?? ""), "Urgency (RFC 8030 §5.3)");
    must(/^[\w-]{1,32}$/.test(headers["topic"] ?? "-"), "Topic (RFC 8030 §5.4)");
    must(headers["content-encoding"] === "aes128gcm", "Content-Encoding (RFC 8291 §4)");
    must(body.byteLength <= 4096, "at most 4096 bytes (RFC 8291 §4)");
    await this.#verify(headers["authorization"] ?? "");
    const { title, body: text, ...data } = fields(JSON.parse(this.#decrypt(body)));
    const behavior = this.next();
    this.received.push({ title: String(title), body: String(text), data, headers });
    return behavior ?? { status: 201, headers: { location: `${this.url}/message/1` } };
  }

  /** Checks scheme, key, signature, audience, expiry within a day, and subject (RFC 8292 §2 and §3). */
  async #verify(authorization: string): Promise<void> {
    const [, token = "", key = ""] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
    must(key === this.vapidPublicKey, "the key that the browser subscribed with");
    const point = Buffer.from(key, "base64url");
    const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
    const publicKey = await importJWK({ kty: "EC", crv: "P-256", x, y }, "ES256");
    const { payload } = await jwtVerify(token, publicKey, { algorithms: ["ES256"], audience: this.url });
    const secondsLeft = (payload.exp ?? 0) - Date.now() / 1000;
    must(secondsLeft > 0 && secondsLeft <= 24 * 60 * 60, "exp within 24 hours");
    must(/^(mailto:|https:)/.test(payload.sub ?? ""), "sub");
  }

  /** Decrypts by RFC 8188 with the keys of RFC 8291 §3.4. Shares no code with the encryption that it tests. */
  #decrypt(body: Buffer): string {
    const salt = body.subarray(0, 16);
    const recordSize = body.readUInt32BE(16);
    const sender = body.subarray(21, 21 + body.readUInt8(20));
    const record = body.subarray(21 + sender.byteLength);
    must(record.byteLength <= recordSize, "one record");
    const shared = this.#curve.computeSecret(sender);
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), this.#curve.getPublicKey(), sender]);
    const input = hkdf(shared, this.#auth, info, 32);
    const key = hkdf(input, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
    const nonce = hkdf(input, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
    const decipher = createDecipheriv("aes-128-gcm", key, nonce);
    decipher.setAuthTag(record.subarray(-16));
    const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
    const end = padded.lastIndexOf(2);
    must(end >= 0 && padded.subarray(end + 1).every((byte) => byte === 0), "the delimiter of the last record");
    return padded.subarray(0, end).toString("utf8");
  }
}

/** ntfy and UnifiedPush: a body, and headers with the options. */
export class UrlPushService extends HttpPushService {
  protected override async take(request: IncomingMessage, body: Buffer): Promise<PushBehavior> {
    const headers = plainHeaders(request.headers);
    must(request.method === "POST", "POST");
    must(body.byteLength > 0 && body.byteLength <= 4096, "a body of 1 to 4096 bytes");
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const behavior = this.next();
    if (headers["content-type"] === "application/json") {
      const { title, body: inner, ...data } = fields(JSON.parse(text));
      this.received.push({ title: String(title), body: String(inner), data, headers });
    } else {
      must(["high", "default"].includes(headers["priority"] ?? ""), "Priority of ntfy");
      this.received.push({ title: decodeWords(headers["title"] ?? ""), body: text, data: {}, headers });
    }
    return behavior ?? { status: 200, body: "{}" };
  }
}

/** Google's token service and FCM HTTP v1. */
export class FcmService extends HttpPushService {
  readonly projectId = "larder-test";
  readonly #publicKeyPem: string;
  /** Valid access tokens. */
  readonly tokens: string[] = [];
  /** How the next token requests are treated. When empty, the service issues a token. */
  tokenBehaviors: PushBehavior[] = [];

  /** @param publicKeyPem of the service account */
  constructor(publicKeyPem: string) {
    super();
    this.#publicKeyPem = publicKeyPem;
  }

  get tokenUri(): string {
    return `${this.url}/token`;
  }

  protected override async take(request: IncomingMessage, body: Buffer): Promise<PushBehavior> {
    must(request.method === "POST", "POST");
    if (request.url === "/token") return this.#issueToken(request, body);
    must(request.url === `/v1/projects/${this.projectId}/messages:send`, "the address of messages:send");
    const headers = plainHeaders(request.headers);
    const token = headers["authorization"]?.replace(/^Bearer /, "") ?? "";
    if (!this.tokens.includes(token)) return googleError(401, "UNAUTHENTICATED");
    const { message } = fields(JSON.parse(body.toString("utf8")));
    const { token: target, notification, data, android } = fields(message);
    must(typeof target === "string" && target !== "", "message.token");
    const { title, body: text } = fields(notification);
    must(
      Object.values(fields(data)).every((value) => typeof value === "string"),
      "data of strings",
    );
    must(Buffer.byteLength(JSON.stringify([notification, data])) <= 4096, "at most 4096 bytes");
    must(/^(HIGH|NORMAL)$/.test(String(fields(android)["priority"])), "android.priority");
    const behavior = this.next();
    const { collapse_key: collapseKey } = fields(android);
    this.received.push({
      title: String(title),
      body: String(text),
      data: fields(data),
      headers: { ...headers, priority: String(fields(android)["priority"]), collapseKey: String(collapseKey) },
    });
    return behavior ?? { status: 200, body: JSON.stringify({ name: `projects/${this.projectId}/messages/1` }) };
  }

  /** Issues an access token by RFC 7523, as Google documents it for service accounts. */
  async #issueToken(request: IncomingMessage, body: Buffer): Promise<PushBehavior> {
    must(request.headers["content-type"] === "application/x-www-form-urlencoded", "a form");
    const form = new URLSearchParams(body.toString("utf8"));
    must(form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer", "grant_type");
    const assertion = form.get("assertion") ?? "";
    must(decodeProtectedHeader(assertion).kid === "key-1", "kid");
    const key = await importSPKI(this.#publicKeyPem, "RS256");
    const { payload } = await jwtVerify(assertion, key, {
      algorithms: ["RS256"],
      audience: this.tokenUri,
      issuer: "larder@larder-test.example",
      currentDate: new Date(),
    });
    must((payload.exp ?? 0) - (payload.iat ?? 0) <= 3600, "exp within an hour");
    must(payload["scope"] === "https://www.googleapis.com/auth/firebase.messaging", "scope");
    const behavior = this.tokenBehaviors.length > 1 ? this.tokenBehaviors.shift() : this.tokenBehaviors[0];
    if (behavior !== undefined) return behavior;
    const token = `ya29.${randomBytes(16).toString("hex")}`;
    this.tokens.push(token);
    return { status: 200, body: JSON.stringify({ access_token: token, expires_in: 3599, token_type: "Bearer" }) };
  }
}

/** An error response in the form of Google's APIs. */
export function googleError(
  status: number,
  googleStatus: string,
  detail?: Record<string, unknown>,
  headers: Record<string, string> = {},
): PushBehavior {
  const error = {
    code: status,
    message: "rejected",
    status: googleStatus,
    ...(detail !== undefined && { details: [detail] }),
  };
  return { status, headers, body: JSON.stringify({ error }) };
}

/** Apple's service over HTTP/2 and TLS, with provider tokens. */
export class ApnsService extends PushService {
  private readonly server: Http2SecureServer;
  private readonly sockets = new Set<Socket>();
  /** Number of connections opened so far. */
  connections = 0;
  /** The distinct provider tokens received. */
  readonly tokens: string[] = [];
  /** Provider tokens that the service rejects as expired. */
  readonly expired = new Set<string>();

  constructor(
    readonly publicKeyPem: string,
    readonly keyId: string,
    readonly teamId: string,
    readonly topic: string,
  ) {
    super();
    this.server = createSecureServer({ key: tlsKey, cert: tlsCertificate });
    this.server.on("secureConnection", (socket: Socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
    });
    this.server.on(
      "stream",
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void this.serve(stream, headers),
    );
    // Tests also disconnect clients in the middle of a session.
    this.server.on("sessionError", () => {});
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", () => resolve()));
    return this;
  }

  override get url(): string {
    return `https://127.0.0.1:${portOf(this.server.address())}`;
  }

  /** Destroys all connections without notice, as a network failure does. */
  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  override async stop(): Promise<void> {
    this.cutAll();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async serve(stream: ServerHttp2Stream, received: IncomingHttpHeaders): Promise<void> {
    stream.on("error", () => {});
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    await new Promise<void>((resolve) => stream.on("end", () => resolve()));
    let behavior: PushBehavior;
    try {
      behavior = await this.take(plainHeaders(received), Buffer.concat(chunks));
    } catch (error) {
      this.faults.push(error instanceof Error ? error.message : String(error));
      behavior = { status: 400, body: JSON.stringify({ reason: "PayloadEmpty" }) };
    }
    this.onRequest();
    if (behavior === "silence" || stream.destroyed) return;
    if (behavior === "garbage") {
      for (const socket of this.sockets) socket.end("This is not an HTTP/2 frame\r\n\r\n");
    } else if (behavior === "cut") {
      this.cutAll();
    } else {
      const { status, headers = {}, body = "" } = behavior;
      stream.respond({ ":status": status, "apns-id": String(received["apns-id"]), ...headers });
      if (typeof body === "string") stream.end(body);
      else writeEndlessly(stream, body);
    }
  }

  private async take(headers: Record<string, string>, body: Buffer): Promise<PushBehavior> {
    must(headers[":method"] === "POST", ":method");
    must(/^\/3\/device\/[0-9a-f]+$/i.test(headers[":path"] ?? ""), ":path");
    must(headers["apns-topic"] === this.topic, "apns-topic");
    must(headers["apns-push-type"] === "alert", "apns-push-type");
    must(/^(10|5|1)$/.test(headers["apns-priority"] ?? ""), "apns-priority");
    must(Number(headers["apns-expiration"]) > Date.now() / 1000, "apns-expiration in the future");
    must(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(headers["apns-id"] ?? ""), "apns-id as a UUID");
    must(Buffer.byteLength(headers["apns-collapse-id"] ?? "") <= 64, "apns-collapse-id");
    must(body.byteLength <= 4096, "at most 4096 bytes");
    const token = headers["authorization"]?.replace(/^bearer /, "") ?? "";
    const header = decodeProtectedHeader(token);
    must(header.kid === this.keyId && header.alg === "ES256", "alg and kid");
    const { payload } = await jwtVerify(token, await importSPKI(this.publicKeyPem, "ES256"), { issuer: this.teamId });
    must(Math.abs(Date.now() / 1000 - (payload.iat ?? 0)) < 3600, "iat within the hour");
    if (!this.tokens.includes(token)) this.tokens.push(token);
    if (this.expired.has(token)) return { status: 403, body: JSON.stringify({ reason: "ExpiredProviderToken" }) };
    const behavior = this.next();
    const { aps, ...data } = fields(JSON.parse(body.toString("utf8")));
    const { title, body: text } = fields(fields(aps)["alert"]);
    this.received.push({ title: String(title), body: String(text), data, headers });
    return behavior ?? { status: 200 };
  }
}

/** Finds a local port on which nothing listens. */
export async function findUnusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const port = portOf(server.address());
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

/** The PEM of the public half of a key. */
export function publicPem(privatePem: string): string {
  return createPublicKey(privatePem).export({ type: "spki", format: "pem" });
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`must hold: ${what}`);
}

function fields(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return { ...value };
}

function plainHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the server doesn't listen");
  return address.port;
}

function hkdf(input: Buffer, salt: Buffer, info: Buffer, lengthBytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", input, salt, info, lengthBytes));
}

function decodeWords(text: string): string {
  return text
    .replaceAll(/\?= =\?/g, "?==?")
    .replaceAll(/=\?UTF-8\?B\?([^?]*)\?=/g, (_, part: string) => Buffer.from(part, "base64").toString("utf8"));
}

/** Writes until the other side closes the stream. Yields to the event loop after each write. */
function writeEndlessly(stream: NodeJS.WritableStream, body: () => string): void {
  let isClosed = false;
  stream.on("close", () => {
    isClosed = true;
  });
  stream.on("error", () => {
    isClosed = true;
  });
  const write = () => {
    if (isClosed || !stream.writable) return;
    if (stream.write(body())) setImmediate(write);
    else stream.once("drain", write);
  };
  write();
}
