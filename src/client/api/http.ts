/** Sends API requests below the base path, unwraps the response envelope, and turns failures into errors. */
import { href } from "../base/address.ts";
import { requestText } from "./text.ts";

export { href, ownAddress } from "../base/address.ts";

/** An error response of the server. Its message is meant for people. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly reason: string | undefined;
  readonly details: Record<string, unknown>;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    response: {
      status: number;
      code: string;
      details?: Record<string, unknown>;
      retryAfterSeconds?: number | undefined;
    },
  ) {
    super(message);
    this.name = "ApiError";
    this.status = response.status;
    this.code = response.code;
    this.details = response.details ?? {};
    const reason = this.details["reason"];
    this.reason = typeof reason === "string" ? reason : undefined;
    this.retryAfterSeconds = response.retryAfterSeconds;
  }
}

/** The request did not reach the server, or the response did not reach the page. */
export class OfflineError extends Error {
  constructor(cause: unknown) {
    super(undefined, { cause });
    this.name = "OfflineError";
  }
}

/** Methods of the API. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Options of a request. */
export interface RequestOptions {
  /** Values that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: Blob | FormData;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** False for requests that check whether somebody is signed in: they can't wait for a sign-in. */
  readonly waitsForSignIn?: boolean;
}

/** Called when a response says that nobody is signed in. Resolves to true once somebody is signed in again. */
type SignInGate = () => Promise<boolean>;

/** How this account can confirm its identity. */
export interface ProofRequest {
  readonly methods: readonly string[];
  /** The password needs a two-factor code as well. */
  readonly needsCode: boolean;
}

/**
 * Called when a response requires confirmation of identity. Resolves to true once the session is confirmed, false if
 * the person cancels.
 */
type ProofGate = (proof: ProofRequest) => Promise<boolean>;

const SESSION_LOST = new Set(["missing_token", "invalid_token", "expired_token", "revoked_token"]);

let signInGate: SignInGate | undefined;
let proofGate: ProofGate | undefined;
const reachability = new Set<(isReached: boolean) => void>();

/** Sets the function to call when the session has ended. api/session.ts does this while somebody is signed in. */
export function setSignInGate(gate: SignInGate | undefined): void {
  signInGate = gate;
}

/**
 * Sets the function to call when a request requires confirmation. app/proof-host.tsx does this on pages of a signed-in
 * person.
 */
export function setProofGate(gate: ProofGate | undefined): void {
  proofGate = gate;
}

/**
 * Calls `listener` after each request with whether it reached the server.
 * @returns a function that removes the listener
 */
export function onReachability(listener: (isReached: boolean) => void): () => void {
  reachability.add(listener);
  return () => reachability.delete(listener);
}

/**
 * Sends an API request as the signed-in person. If the session has ended, waits until the person has signed in again;
 * if the server requires confirmation, waits until the person has confirmed. Then repeats the request once.
 * @returns `data` of the envelope, or the whole body if it has no `data`
 * @throws ApiError for every error response; OfflineError if there was no response; the abort reason of `signal`
 */
export async function request<T>(method: Method, path: `/api/${string}`, options: RequestOptions = {}): Promise<T> {
  let mayWait = options.waitsForSignIn !== false;
  let mayProve = true;
  for (;;) {
    const response = await send(method, path, options);
    if (response.ok) return await readData<T>(response);
    const error = await readError(response);
    const proof = readProofRequest(error);
    if (mayWait && isSessionLost(error, path) && signInGate !== undefined) {
      mayWait = false;
      if (await signInGate()) continue;
    } else if (mayProve && proof !== undefined && proofGate !== undefined) {
      mayProve = false;
      if (await proofGate(proof)) continue;
      throw new ApiError(requestText.notConfirmed, error);
    }
    throw error;
  }
}

/**
 * Reads the confirmation that an error requires; undefined for other errors. The password of a public link is a
 * different case and has no `methods`.
 */
function readProofRequest({ reason, details }: ApiError): ProofRequest | undefined {
  const { methods, needsCode } = details;
  if (reason !== "password_required" || !Array.isArray(methods)) return undefined;
  return { methods: methods.filter((method) => typeof method === "string"), needsCode: needsCode === true };
}

/** Whether an error means that nobody is signed in, rather than that a password or code was wrong. */
export function isSessionLost(error: unknown, path = ""): boolean {
  return (
    error instanceof ApiError &&
    error.status === 401 &&
    SESSION_LOST.has(error.reason ?? "") &&
    !path.startsWith("/api/auth/")
  );
}

/** The URL of an API endpoint with its query. */
export function apiAddress(path: `/api/${string}`, query: RequestOptions["query"] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === "" ? href(path) : `${href(path)}?${text}`;
}

/** Turns an error response into an ApiError, even if a proxy sent it. */
export async function readError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const failure = isRecord(body) ? body["error"] : undefined;
  const inBody = isRecord(failure) && isRecord(failure["details"]) ? failure["details"]["retryAfter"] : undefined;
  const retryAfter = Number(response.headers.get("retry-after") ?? inBody ?? Number.NaN);
  const base = {
    status: response.status,
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter : undefined,
  };
  if (!isRecord(failure)) return new ApiError(messageForStatus(response.status), { ...base, code: "UNKNOWN" });
  const { message, code, details } = failure;
  return new ApiError(typeof message === "string" ? message : messageForStatus(response.status), {
    ...base,
    code: typeof code === "string" ? code : "UNKNOWN",
    ...(isRecord(details) && { details }),
  });
}

async function send(method: Method, path: `/api/${string}`, options: RequestOptions): Promise<Response> {
  const { query, body, raw, signal, headers } = options;
  try {
    const response = await fetch(apiAddress(path, query), {
      method,
      credentials: "same-origin",
      headers: {
        accept: "application/json",
        "accept-language": document.documentElement.lang,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(raw !== undefined && { body: raw }),
      ...(signal !== undefined && { signal }),
    });
    reportReachability(true);
    return response;
  } catch (error) {
    signal?.throwIfAborted();
    reportReachability(false);
    throw new OfflineError(error);
  }
}

/**
 * Whether the server has the document at an address now. A failed request is reported to the reachability listeners.
 */
export async function hasDocument(address: string): Promise<boolean> {
  try {
    const { ok } = await fetch(address, { method: "HEAD", cache: "no-store" });
    reportReachability(true);
    return ok;
  } catch {
    reportReachability(false);
    return false;
  }
}

async function readData<T>(response: Response): Promise<T> {
  const text = await response.text().catch((error: unknown) => {
    throw new OfflineError(error);
  });
  const body: unknown = text === "" ? {} : JSON.parse(text);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the type; tests compare the responses with their schemas
  return (isRecord(body) && body["data"] !== undefined ? body["data"] : body) as T;
}

function reportReachability(isReached: boolean): void {
  for (const listener of reachability) listener(isReached);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** For responses without Larder's envelope, which a proxy sent. */
function messageForStatus(status: number): string {
  if (status === 413) return requestText.tooLargeForProxy;
  if (status === 502 || status === 503 || status === 504 || (status >= 520 && status <= 526)) {
    return requestText.unavailable;
  }
  return requestText.noMessage({ status });
}

/** The message to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return messageForReason(error.reason) ?? error.message;
  if (error instanceof OfflineError) return requestText.offline;
  return requestText.unexpected;
}

/** What a person can do about an error, where the message of the server does not say it. */
export function messageForReason(reason: string | undefined): string | undefined {
  return reason === "locked" ? requestText.locked : undefined;
}
