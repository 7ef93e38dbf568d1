// Push services on this machine, one for each channel. They speak the real protocols and are strict about them:
// signatures are verified, payloads decrypted, headers required. What is wrong with a request goes to `faults`, and the
// request is refused, as the real service would.
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

/** A certificate that signs itself, for `push.test` and `127.0.0.1`, and its key. */
export const tlsKey = readFileSync(join(fixtures, "key.pem"), "utf8");
export const tlsCertificate = readFileSync(join(fixtures, "certificate.pem"), "utf8");

/** What a service does with a request that is right. */
export type PushBehavior =
  /** Answers. A body that is a function is written again and again, for ever. */
  | {
      status: number;
      headers?: Record<string, string>;
      body?: string | (() => string);
    }
  /** Reads, and says nothing. */
  | "silence"
  /** Says something that is not its protocol. */
  | "garbage"
  /** Ends the connection. */
  | "cut";

/** A message as it arrived. */
export interface ReceivedPush {
  title: string;
  body: string;
  /** All that the app gets besides. */
  data: Record<string, unknown>;
  headers: Record<string, string>;
}

/** What all services have in common. */
export abstract class PushService {
  /** Requests that were right, in the order they came; decoded as the app would. */
  readonly received: ReceivedPush[] = [];
  /** What was wrong with the others. */
  readonly faults: string[] = [];
  /** What the next requests get, the last one for ever. Empty: the service takes them. */
  behaviors: PushBehavior[] = [];
  /** Called with each request that has arrived whole. */
  onRequest: () => void = () => {};

  /** Address, with scheme and port. */
  abstract get url(): string;
  abstract stop(): Promise<void>;

  /** The next thing to do; undefined: take the message. */
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

  /** Reads and judges a request. @returns what the service answers when all is well */
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
      request.socket.end("This is no answer of HTTP\r\n\r\n");
    } else if (behavior === "cut") {
      request.socket.destroy();
    } else {
      const { status, headers = {}, body = "" } = behavior;
      response.writeHead(status, headers);
      if (typeof body === "string") response.end(body);
      else writeForEver(response, body);
    }
  }
}

/** The push service of a browser (RFC 8030), which knows its subscriptions' private keys so that it can look inside. */
export class WebPushService extends HttpPushService {
  readonly #curve: ECDH = createECDH("prime256v1");
  readonly #auth = randomBytes(16);

  /** @param vapidPublicKey what browsers subscribed with: other senders are refused */
  constructor(
    readonly vapidPublicKey: string,
    isTls = false,
  ) {
    super(isTls);
    this.#curve.generateKeys();
  }

  /** A subscription of this service, as `JSON.stringify(subscription)` writes it. */
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

  /** RFC 8292 §2 and §3: scheme, signature by the key that it names, audience, at most a day, a subject. */
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

  /** RFC 8188 with the keys of RFC 8291 §3.4, written out here so that it shares no code with what encrypts. */
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

/** ntfy and UnifiedPush: a body, and headers that say what to do with it. */
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
      must(["high", "default"].includes(headers["priority"] ?? ""), "Priority, as ntfy knows it");
      this.received.push({ title: decodeWords(headers["title"] ?? ""), body: text, data: {}, headers });
    }
    return behavior ?? { status: 200, body: "{}" };
  }
}

/** Google's token service, and FCM HTTP v1. */
export class FcmService extends HttpPushService {
  readonly projectId = "larder-test";
  readonly #publicKeyPem: string;
  /** Access tokens that were given out and count. */
  readonly tokens: string[] = [];
  /** What the token service does next; empty: it gives a token. */
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
    if (request.url === "/token") return this.#giveToken(request, body);
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

  /** RFC 7523, as Google's documentation of service accounts has it. */
  async #giveToken(request: IncomingMessage, body: Buffer): Promise<PushBehavior> {
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

/** An answer of Google's as its APIs give it. */
export function googleError(
  status: number,
  word: string,
  detail?: Record<string, unknown>,
  headers: Record<string, string> = {},
): PushBehavior {
  const error = { code: status, message: "refused", status: word, ...(detail !== undefined && { details: [detail] }) };
  return { status, headers, body: JSON.stringify({ error }) };
}

/** Apple's service over HTTP/2 and TLS, with provider tokens. */
export class ApnsService extends PushService {
  private readonly server: Http2SecureServer;
  private readonly sockets = new Set<Socket>();
  /** How many connections were opened so far. */
  connections = 0;
  /** Provider tokens seen, each once. */
  readonly tokens: string[] = [];
  /** Provider tokens that are called expired. */
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
    // A client that goes away in the middle is part of the tests.
    this.server.on("sessionError", () => {});
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", () => resolve()));
    return this;
  }

  override get url(): string {
    return `https://127.0.0.1:${portOf(this.server.address())}`;
  }

  /** Ends all connections without a word, as a network does that went away. */
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
      for (const socket of this.sockets) socket.end("This is no frame of HTTP/2\r\n\r\n");
    } else if (behavior === "cut") {
      this.cutAll();
    } else {
      const { status, headers = {}, body = "" } = behavior;
      stream.respond({ ":status": status, "apns-id": String(received["apns-id"]), ...headers });
      if (typeof body === "string") stream.end(body);
      else writeForEver(stream, body);
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

/** A port of this machine on which nobody listens. */
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

function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`must hold: ${what}`);
}

function fields(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error(`no object: ${JSON.stringify(value)}`);
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

/** Writes until the other side has had enough, and lets others have their turn in between. */
function writeForEver(stream: NodeJS.WritableStream, body: () => string): void {
  let isOver = false;
  stream.on("close", () => {
    isOver = true;
  });
  stream.on("error", () => {
    isOver = true;
  });
  const write = () => {
    if (isOver || !stream.writable) return;
    if (stream.write(body())) setImmediate(write);
    else stream.once("drain", write);
  };
  write();
}
