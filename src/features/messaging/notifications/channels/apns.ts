/**
 * Apple Push Notification service, for iOS apps. This server authenticates with a token that it signs itself. All
 * messages share one persistent HTTP/2 connection, because Apple treats many new connections as an attack.
 */
import { createHash, type KeyObject } from "node:crypto";
import type * as http2 from "node:http2";
import { SignJWT } from "jose";
import type { Config } from "../../../../config/settings.ts";
import { StartupError } from "../../../../config/startup-error.ts";
import type { Clock } from "../../../../lib/clock.ts";
import { RESPONSE_BYTES_MAX, OUTBOUND_TIMEOUT_MS } from "../../../../net/outbound.ts";
import { untilAborted } from "../../../../net/until-aborted.ts";
import type { DeliveryOutcome, PushChannel, PushMessage, PushTarget } from "./channel.ts";
import { parseObject } from "./json.ts";
import { parsePrivateKey, readKeyFile } from "./key-file.ts";
import { DELIVERED, retryLater } from "./outcomes.ts";
import { fit, isUrgent, shortKey, TTL_SECONDS } from "./payload.ts";

/** The key and ids with which the channel authenticates. */
interface ApnsCredentials {
  readonly key: KeyObject;
  readonly keyId: string;
  readonly teamId: string;
  /** The bundle id of the app. */
  readonly topic: string;
}

interface ApnsResponse {
  readonly status: number;
  /** Apple's error code, such as `BadDeviceToken`. */
  readonly reason: string;
  readonly retryAfter: string | undefined;
}

interface ProviderToken {
  readonly text: Promise<string>;
  readonly signedAtMs: number;
}

const ENDPOINTS = {
  production: "https://api.push.apple.com",
  sandbox: "https://api.sandbox.push.apple.com",
} as const;
/** Apple accepts a provider token for one hour. */
const TOKEN_MS_MAX = 50 * 60 * 1000;
/** Apple rejects new provider tokens more often than every 20 minutes. */
const TOKEN_MS_MIN = 20 * 60 * 1000;
/** A connection that was idle for this long is pinged before the next message. */
const IDLE_MS = 60_000;
const PING_TIMEOUT_MS = 5_000;
const PAYLOAD_BYTES_MAX = 4096;
const COLLAPSE_ID_LENGTH_MAX = 64;
/** The app was removed, or the token belongs to another app or service. */
const GONE = new Set(["Unregistered", "ExpiredToken", "BadDeviceToken"]);
/** This server's key or settings are wrong. The message can be sent once the operator has corrected them. */
const OPERATOR_ERRORS = new Set(["InvalidProviderToken", "MissingProviderToken", "ExpiredProviderToken", "Forbidden"]);

/** Sends messages to iOS apps. */
export class ApnsChannel implements PushChannel {
  readonly name = "apns";
  readonly #credentials: ApnsCredentials;
  readonly #connection: Connection;
  readonly #clock: Clock;
  #token: ProviderToken | undefined;
  #renewedAtMs = Number.NEGATIVE_INFINITY;

  /** @param ca certificates (PEM) to trust instead of the default ones */
  constructor(credentials: ApnsCredentials, endpoint: string, clock: Clock, ca?: string) {
    this.#credentials = credentials;
    this.#connection = new Connection(endpoint, ca);
    this.#clock = clock;
  }

  async deliver({ token }: PushTarget, message: PushMessage, signal: AbortSignal): Promise<DeliveryOutcome> {
    // The token becomes part of the path.
    if (!/^[0-9a-f]{2,400}$/i.test(token)) return { state: "gone", why: "the push token is not a valid APNs token" };
    const timeout = AbortSignal.timeout(OUTBOUND_TIMEOUT_MS);
    const limit = AbortSignal.any([signal, timeout]);
    try {
      const provider = this.#providerToken();
      const response = await this.#send(token, message, provider, limit);
      const isRenewed = response.reason === "ExpiredProviderToken" && this.#renew(provider);
      return this.#toOutcome(isRenewed ? await this.#send(token, message, this.#providerToken(), limit) : response);
    } catch (error) {
      if (signal.aborted) return { state: "retry", why: "the request was canceled" };
      if (timeout.aborted) {
        this.#connection.pingBeforeUse();
        return { state: "retry", why: `no complete response within ${OUTBOUND_TIMEOUT_MS} ms` };
      }
      // Only the code: the error message may contain the path, and with it the token.
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown cause";
      return { state: "retry", why: `no connection (${code})` };
    }
  }

  /** Closes the connection at once. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #send(
    token: string,
    message: PushMessage,
    provider: ProviderToken,
    signal: AbortSignal,
  ): Promise<ApnsResponse> {
    const { collapseKey } = message;
    const headers = {
      ":method": "POST",
      ":path": `/3/device/${token}`,
      authorization: `bearer ${await provider.text}`,
      "apns-id": deriveUuid(message.id),
      "apns-topic": this.#credentials.topic,
      "apns-push-type": "alert",
      "apns-priority": isUrgent(message) ? "10" : "5",
      "apns-expiration": String(Math.floor(this.#clock.nowMs() / 1000) + TTL_SECONDS),
      "content-type": "application/json",
      ...(collapseKey !== undefined && { "apns-collapse-id": shortKey(collapseKey, COLLAPSE_ID_LENGTH_MAX) }),
    };
    return this.#connection.request(headers, fit(message, PAYLOAD_BYTES_MAX, encode), signal);
  }

  #toOutcome({ status, reason, retryAfter }: ApnsResponse): DeliveryOutcome {
    if (status >= 200 && status < 300) return DELIVERED;
    const why = `APNs returned ${status}${reason === "" ? "" : ` ${reason}`}`;
    if (GONE.has(reason) || status === 410) return { state: "gone", why };
    const isTemporary = status === 403 || status === 408 || status === 429 || status >= 500;
    return OPERATOR_ERRORS.has(reason) || isTemporary
      ? retryLater(why, retryAfter, this.#clock.nowMs())
      : { state: "rejected", why };
  }

  /** The token with which this server authenticates at Apple; concurrent requests share one. */
  #providerToken(): ProviderToken {
    const nowMs = this.#clock.nowMs();
    const ageMs = nowMs - (this.#token?.signedAtMs ?? Number.NEGATIVE_INFINITY);
    // Below zero: the clock was set back, and the token is dated in the future.
    if (this.#token === undefined || ageMs < 0 || ageMs >= TOKEN_MS_MAX) {
      this.#token = { text: this.#sign(nowMs), signedAtMs: nowMs };
    }
    return this.#token;
  }

  /** Drops a token that Apple reported as expired. @returns false if one was dropped in the last 20 minutes */
  #renew(expired: ProviderToken): boolean {
    if (this.#token !== expired) return true;
    const nowMs = this.#clock.nowMs();
    if (Math.abs(nowMs - this.#renewedAtMs) < TOKEN_MS_MIN) return false;
    this.#renewedAtMs = nowMs;
    this.#token = undefined;
    return true;
  }

  #sign(nowMs: number): Promise<string> {
    const { key, keyId, teamId } = this.#credentials;
    return new SignJWT()
      .setProtectedHeader({ alg: "ES256", kid: keyId })
      .setIssuer(teamId)
      .setIssuedAt(Math.floor(nowMs / 1000))
      .sign(key);
  }
}

/** The connection to Apple. Opens when it is needed, and again after it was closed. */
class Connection {
  readonly #endpoint: string;
  readonly #ca: string | undefined;
  #session: Promise<http2.ClientHttp2Session> | undefined;
  #usedMs = 0;

  constructor(endpoint: string, ca: string | undefined) {
    this.#endpoint = endpoint;
    this.#ca = ca;
  }

  async request(headers: Record<string, string>, body: string, signal: AbortSignal): Promise<ApnsResponse> {
    const session = await untilAborted(this.#open(), signal);
    const stream = session.request({ ...headers, ":path": `${this.#basePath()}${headers[":path"] ?? ""}` });
    const onAbort = () => stream.destroy(new Error("aborted"));
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const reading = readResponse(stream);
      stream.end(body);
      const response = await reading;
      this.#usedMs = performance.now();
      return response;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Pings the connection before its next use, because it may be broken. */
  pingBeforeUse(): void {
    this.#usedMs = Number.NEGATIVE_INFINITY;
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    // If it could not be opened, the requests that waited for it have failed already.
    const opened = await session?.catch(() => undefined);
    opened?.destroy();
  }

  #basePath(): string {
    return new URL(this.#endpoint).pathname.replace(/\/$/, "");
  }

  async #open(): Promise<http2.ClientHttp2Session> {
    // Loaded at the first use: most servers send nothing to Apple.
    const { connect } = await import("node:http2");
    this.#session ??= this.#connect(connect);
    const opening = this.#session;
    const session = await opening;
    if (performance.now() - this.#usedMs < IDLE_MS || (await isAlive(session))) return session;
    if (this.#session === opening) this.#session = this.#connect(connect);
    session.destroy();
    return this.#open();
  }

  #connect(connect: typeof http2.connect): Promise<http2.ClientHttp2Session> {
    const { promise, resolve, reject } = Promise.withResolvers<http2.ClientHttp2Session>();
    const session = connect(this.#endpoint, this.#ca === undefined ? {} : { ca: this.#ca });
    const forget = () => {
      if (this.#session === promise) this.#session = undefined;
    };
    const limit = setTimeout(() => session.destroy(new Error("no connection in time")), OUTBOUND_TIMEOUT_MS);
    session.once("connect", () => {
      clearTimeout(limit);
      this.#usedMs = performance.now();
      resolve(session);
    });
    session.on("error", (error) => {
      forget();
      reject(error);
    });
    // Apple closes a connection this way, for example before maintenance; requests in progress still finish.
    session.on("goaway", forget);
    session.on("close", () => {
      clearTimeout(limit);
      forget();
      reject(new Error("the connection was closed"));
    });
    return promise;
  }
}

async function isAlive(session: http2.ClientHttp2Session): Promise<boolean> {
  if (session.closed || session.destroyed) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const limit = setTimeout(() => resolve(false), PING_TIMEOUT_MS);
  session.once("close", () => resolve(false));
  session.ping((error) => resolve(error === null));
  try {
    return await promise;
  } finally {
    clearTimeout(limit);
  }
}

function readResponse(stream: http2.ClientHttp2Stream): Promise<ApnsResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ApnsResponse>();
  let headers: http2.IncomingHttpHeaders | undefined;
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const finish = () => {
    if (headers === undefined) return;
    const status = Number(headers[":status"]);
    const retryAfter = headers["retry-after"];
    resolve({ status, reason: readReason(Buffer.concat(chunks)), retryAfter });
  };
  stream.on("response", (received) => {
    headers = received;
  });
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    sizeBytes += chunk.byteLength;
    if (sizeBytes < RESPONSE_BYTES_MAX) return;
    finish();
    stream.close();
  });
  stream.on("end", finish);
  stream.on("error", reject);
  stream.on("close", () => reject(new Error("the answer broke off")));
  return promise;
}

/** The `reason` in Apple's JSON; empty if there is none. */
function readReason(body: Buffer): string {
  const reason = parseObject(body.toString("utf8"))?.["reason"];
  return typeof reason === "string" && /^\w{1,64}$/.test(reason) ? reason : "";
}

function encode(message: PushMessage): string {
  const { id, category, title, body, data } = message;
  return JSON.stringify({
    aps: { alert: { title, body }, sound: "default", "thread-id": category },
    id,
    category,
    data,
  });
}

/** Derives a UUID from an id, always the same (RFC 9562 §5.8): Apple accepts no other form. */
function deriveUuid(id: string): string {
  const bytes = createHash("sha256").update(id).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * Creates the channel, if its settings are set.
 * @throws StartupError if a setting is missing, or the key is unreadable or not an APNs key
 */
export async function openApns({
  settings,
  clock,
  ca,
}: {
  readonly settings: Config["push"]["apns"];
  readonly clock: Clock;
  readonly ca?: string | undefined;
}): Promise<ApnsChannel | undefined> {
  const { keyFile, keyId, teamId, topic, environment, endpoint } = settings;
  if (keyFile === null && keyId === null && teamId === null && topic === null) return undefined;
  if (keyFile === null || keyId === null || teamId === null || topic === null) {
    const missing = Object.entries({ keyFile, keyId, teamId, topic }).filter(([, value]) => value === null);
    const names = missing.map(([name]) => `push.apns.${name}`).join(" and ");
    throw new StartupError(
      `Push notifications to iOS also require ${names}. Set it, or remove the other push.apns settings.`,
    );
  }
  const key = readKey(keyFile);
  return new ApnsChannel({ key, keyId, teamId, topic }, endpoint ?? ENDPOINTS[environment], clock, ca);
}

function readKey(path: string): KeyObject {
  const key = parsePrivateKey(readKeyFile(path, "push.apns.keyFile"));
  if (key?.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1") return key;
  throw new StartupError(`${path} (push.apns.keyFile) does not contain an APNs key. Use the .p8 file from Apple.`);
}
