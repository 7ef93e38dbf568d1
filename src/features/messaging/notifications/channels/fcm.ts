/** Firebase Cloud Messaging, HTTP v1: to Android apps, with a service account of the operator's Firebase project. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { SignJWT } from "jose";
import type { Config } from "../../../../config/settings.ts";
import { StartupError } from "../../../../config/startup-error.ts";
import type { Clock } from "../../../../lib/clock.ts";
import { type OutboundResponse, OutboundError } from "../../../../net/outbound.ts";
import { sendToService } from "../../../../net/service.ts";
import { untilAborted } from "../../../../net/until-aborted.ts";
import type { DeliveryOutcome, PushChannel, PushMessage, PushTarget } from "./channel.ts";
import { isObject, parseObject } from "./json.ts";
import { DELIVERED, outcomeOfFailure, retryLater } from "./outcomes.ts";
import { fit, isUrgent, TTL_SECONDS } from "./payload.ts";

/** What is needed of a service account's key file. */
interface ServiceAccount {
  readonly projectId: string;
  readonly clientEmail: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject;
  /** Where access tokens are had, as the file says. */
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
/** A token that ends sooner is not used for another message. */
const RENEW_BEFORE_MS = 5 * 60 * 1000;
/** FCM takes 4096 bytes of notification and data; the rest of the request doesn't count. */
const MESSAGE_BYTES_MAX = 4000;
/** Keys that FCM keeps for itself, and refuses the whole message for. */
const RESERVED_KEY = /^(from|message_type|collapse_key|notification|google\..*|gcm\..*)$/;

/** Delivers to registration tokens of Android apps. */
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
      const answer = await this.#post(body, access, signal);
      if (!isUnauthorized(answer)) return this.#outcomeOf(answer);
      // Google may end a token before its time; a second refusal is about something else.
      if (this.#token === access) this.#token = undefined;
      return this.#outcomeOf(await this.#post(body, await this.#accessToken(signal), signal));
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

  #outcomeOf(answer: OutboundResponse): DeliveryOutcome {
    const { status } = answer;
    if (status >= 200 && status < 300) return DELIVERED;
    const problem = readProblem(answer);
    const why = `FCM returned ${status}${problem === undefined ? "" : ` ${problem.code}`}`;
    if (problem?.isGone === true) return { state: "gone", why };
    const isPassing = status === 401 || status === 403 || status === 404 || status === 408 || status === 429;
    return isPassing || status >= 500 ? retryLater(why, answer, this.#clock.nowMs()) : { state: "rejected", why };
  }

  /** The access token, fetched where there is none or it ends soon; once for all who ask meanwhile. */
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
    const answer = await sendToService(tokenUri, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: Buffer.from(form.toString()),
    });
    const fields = parseObject(answer.body.toString("utf8"));
    const text = fields?.["access_token"];
    const seconds = Number(fields?.["expires_in"] ?? Number.NaN);
    if (answer.status !== 200 || typeof text !== "string" || !/^[\u0021-\u007e]+$/.test(text) || !(seconds > 0)) {
      const code = safeWord(fields?.["error"]);
      throw new OutboundError("unreachable", `no access token: the token service returned ${answer.status}${code}`);
    }
    this.#token = { text, expiresAtMs: this.#clock.nowMs() + seconds * 1000 };
    return this.#token;
  }

  /** RFC 7523 §2.1, in the form that Google asks for. */
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
 * The channel, or undefined where no service account is set.
 * @throws StartupError where the file can't be read or is no key of a service account
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
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (error) {
    throw new StartupError(
      `Cannot read ${path} (${SETTING}): ${error instanceof Error ? error.message : String(error)}.`,
      error,
    );
  }
  const fields = parseObject(content.toString("utf8"));
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
  return {
    projectId: read("project_id"),
    clientEmail: read("client_email"),
    keyId: typeof keyId === "string" ? keyId : undefined,
    key: readRsaKey(read("private_key"), () => fault('in which "private_key" is not an RSA key in PEM format')),
    tokenUri,
  };
}

function readRsaKey(pem: string, fault: () => StartupError): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Its message may show parts of what it could not read.
    throw fault();
  }
  if (key.asymmetricKeyType !== "rsa") throw fault();
  return key;
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

function isUnauthorized(answer: OutboundResponse): boolean {
  return (answer.status === 401 || answer.status === 403) && readProblem(answer)?.isGone !== true;
}

/**
 * What FCM says is wrong. A token is gone on FCM's own word alone: a 404 without it is a wrong address.
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

/** A code as it may stand in the log: one word, or nothing. */
function safeWord(value: unknown): string {
  return typeof value === "string" && /^\w{1,64}$/.test(value) ? ` ${value}` : "";
}
