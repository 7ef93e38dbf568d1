/** Firebase Cloud Messaging (HTTP v1) to Android apps, with a service account of the operator's Firebase project. */
import type { KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import type { Config } from "../../../../config/settings.ts";
import { StartupError } from "../../../../config/startup-error.ts";
import type { Clock } from "../../../../lib/clock.ts";
import type { OutboundResponse } from "../../../../net/outbound.ts";
import { OutboundError } from "../../../../net/outbound-error.ts";
import { sendToService } from "../../../../net/service.ts";
import { untilAborted } from "../../../../net/until-aborted.ts";
import type { DeliveryOutcome, PushChannel, PushMessage, PushTarget } from "./channel.ts";
import { isObject, parseObject } from "./json.ts";
import { parsePrivateKey, readKeyFile } from "./key-file.ts";
import { DELIVERED, outcomeOfFailure, retryLater } from "./outcomes.ts";
import { fit, isUrgent, TTL_SECONDS } from "./payload.ts";

/** The fields of a service account's key file that we need. */
interface ServiceAccount {
  readonly projectId: string;
  readonly clientEmail: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject;
  /** The URL that issues access tokens. */
  readonly tokenUri: string;
}

interface AccessToken {
  readonly text: string;
  readonly expiresAtMs: number;
}

const SETTING = "push.fcm.serviceAccountFile";
const SCOPE = "https://www.googleapis.com/auth/firebase.messaging";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION_SECONDS = 3600;
/** A token that expires sooner is not used for another message. */
const RENEW_BEFORE_MS = 5 * 60 * 1000;
/** FCM accepts 4096 bytes of notification and data; the rest of the request doesn't count. */
const MESSAGE_BYTES_MAX = 4000;
/** Keys that FCM reserves: it rejects messages that contain them. */
const RESERVED_KEY = /^(from|message_type|collapse_key|notification|google\..*|gcm\..*)$/;

/** Sends messages to Android apps. */
export class FcmChannel implements PushChannel {
  readonly name = "fcm";
  readonly #account: ServiceAccount;
  readonly #endpoint: string;
  readonly #clock: Clock;
  #token: AccessToken | undefined;
  #renewal: Promise<AccessToken> | undefined;

  constructor(account: ServiceAccount, endpoint: string, clock: Clock) {
    this.#account = account;
    this.#endpoint = endpoint;
    this.#clock = clock;
  }

  async deliver({ token }: PushTarget, message: PushMessage, signal: AbortSignal): Promise<DeliveryOutcome> {
    const body = Buffer.from(fit(message, MESSAGE_BYTES_MAX + token.length, (short) => encode(token, short)));
    try {
      const access = await this.#accessToken(signal);
      const response = await this.#post(body, access, signal);
      if (!isUnauthorized(response)) return this.#toOutcome(response);
      // Google may revoke a token early. If a new token is rejected too, the cause is another one.
      if (this.#token === access) this.#token = undefined;
      return this.#toOutcome(await this.#post(body, await this.#accessToken(signal), signal));
    } catch (error) {
      return outcomeOfFailure(error, signal);
    }
  }

  #post(body: Buffer, access: AccessToken, signal: AbortSignal): Promise<OutboundResponse> {
    return sendToService(`${this.#endpoint}/v1/projects/${encodeURIComponent(this.#account.projectId)}/messages:send`, {
      method: "POST",
      headers: { Authorization: `Bearer ${access.text}`, "Content-Type": "application/json" },
      body,
      signal,
    });
  }

  #toOutcome(response: OutboundResponse): DeliveryOutcome {
    const { status } = response;
    if (status >= 200 && status < 300) return DELIVERED;
    const problem = readProblem(response);
    const why = `FCM returned ${status}${problem === undefined ? "" : ` ${problem.code}`}`;
    if (problem?.isGone === true) return { state: "gone", why };
    const isTemporary = [401, 403, 404, 408, 429].includes(status) || status >= 500;
    return isTemporary
      ? retryLater(why, response.header("retry-after"), this.#clock.nowMs())
      : { state: "rejected", why };
  }

  /** The access token. Fetches a new one if there is none or it expires soon; concurrent callers share the request. */
  async #accessToken(signal: AbortSignal): Promise<AccessToken> {
    const token = this.#token;
    if (token !== undefined && token.expiresAtMs - RENEW_BEFORE_MS > this.#clock.nowMs()) return token;
    this.#renewal ??= this.#fetchToken().finally(() => {
      this.#renewal = undefined;
    });
    return untilAborted(this.#renewal, signal);
  }

  async #fetchToken(): Promise<AccessToken> {
    const { tokenUri } = this.#account;
    const form = new URLSearchParams({ grant_type: GRANT, assertion: await this.#assertion() });
    const response = await sendToService(tokenUri, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: Buffer.from(form.toString()),
    });
    const fields = parseObject(response.body.toString("utf8"));
    const text = fields?.["access_token"];
    const seconds = Number(fields?.["expires_in"] ?? Number.NaN);
    if (response.status !== 200 || typeof text !== "string" || !/^[\u0021-\u007e]+$/.test(text) || !(seconds > 0)) {
      const code = safeWord(fields?.["error"]);
      throw new OutboundError("unreachable", `no access token: the token service returned ${response.status}${code}`);
    }
    this.#token = { text, expiresAtMs: this.#clock.nowMs() + seconds * 1000 };
    return this.#token;
  }

  /** The signed JWT of RFC 7523 §2.1, with the claims that Google requires. */
  #assertion(): Promise<string> {
    const { clientEmail, keyId, tokenUri, key } = this.#account;
    const nowSeconds = Math.floor(this.#clock.nowMs() / 1000);
    return new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) })
      .setIssuer(clientEmail)
      .setAudience(tokenUri)
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + ASSERTION_SECONDS)
      .sign(key);
  }
}

/**
 * Creates the channel, if a service account is set.
 * @throws StartupError if the file is unreadable or not the key of a service account
 */
export async function openFcm({
  settings,
  clock,
}: {
  readonly settings: Config["push"]["fcm"];
  readonly clock: Clock;
}): Promise<FcmChannel | undefined> {
  const { serviceAccountFile, endpoint } = settings;
  if (serviceAccountFile === null) return undefined;
  return new FcmChannel(readServiceAccount(serviceAccountFile), endpoint, clock);
}

function readServiceAccount(path: string): ServiceAccount {
  const fault = (what: string) => new StartupError(`${SETTING} names ${path}, ${what}.`);
  const fields = parseObject(readKeyFile(path, SETTING));
  if (fields === undefined) {
    throw fault("which is not valid JSON. Use the file from the Firebase console, under Service accounts");
  }
  const read = (name: string) => {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
    throw fault(`in which "${name}" is missing. Use the complete file from the Firebase console`);
  };
  const keyId = fields["private_key_id"];
  const tokenUri = read("token_uri");
  if (URL.parse(tokenUri) === null) throw fault('in which "token_uri" is not a URL');
  const [projectId, clientEmail] = [read("project_id"), read("client_email")];
  const key = parsePrivateKey(read("private_key"));
  if (key?.asymmetricKeyType !== "rsa") throw fault('in which "private_key" is not an RSA key in PEM format');
  return { projectId, clientEmail, keyId: typeof keyId === "string" ? keyId : undefined, key, tokenUri };
}

function encode(token: string, message: PushMessage): string {
  const { id, category, title, body, data, collapseKey } = message;
  const usable = Object.fromEntries(Object.entries(data).filter(([key]) => !RESERVED_KEY.test(key)));
  return JSON.stringify({
    message: {
      token,
      notification: { title, body },
      data: { ...usable, id, category },
      android: {
        priority: isUrgent(message) ? "HIGH" : "NORMAL",
        ttl: `${TTL_SECONDS}s`,
        ...(collapseKey !== undefined && { collapse_key: collapseKey }),
      },
    },
  });
}

function isUnauthorized(response: OutboundResponse): boolean {
  return (response.status === 401 || response.status === 403) && readProblem(response)?.isGone !== true;
}

/**
 * The error in FCM's response. Only this error says that a token is gone: a 404 without it means a wrong address.
 * @see https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
 */
function readProblem({ body }: OutboundResponse): { code: string; isGone: boolean } | undefined {
  const error = parseObject(body.toString("utf8"))?.["error"];
  if (!isObject(error)) return undefined;
  const details = Array.isArray(error["details"]) ? error["details"].filter(isObject) : [];
  const codes = details.map((detail) => detail["errorCode"]).filter((code) => typeof code === "string");
  const violations = details.flatMap((detail): unknown[] =>
    Array.isArray(detail["fieldViolations"]) ? detail["fieldViolations"] : [],
  );
  const isTokenWrong = violations.some((violation) => isObject(violation) && violation["field"] === "message.token");
  const status = error["status"];
  const isGone =
    codes.includes("UNREGISTERED") || codes.includes("SENDER_ID_MISMATCH") || status === "NOT_FOUND" || isTokenWrong;
  return { code: safeWord(codes[0] ?? status).trim(), isGone };
}

/** An error code that is safe to log: one word, or nothing. */
function safeWord(value: unknown): string {
  return typeof value === "string" && /^\w{1,64}$/.test(value) ? ` ${value}` : "";
}
