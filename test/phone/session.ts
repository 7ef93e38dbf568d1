// A phone's sign-in: its tokens, how it renews them, and every request it makes.
import type { PhoneDisk } from "./disk.ts";
import { type ApiResponse, LineDown, type SeenResponse, send } from "./http.ts";
import type { Random } from "./random.ts";

/** Thrown where the app dies. What was not saved is lost. */
export class PhoneCrashed extends Error {
  override readonly name = "PhoneCrashed";
}

/** Who signs in on a phone. */
export interface Credentials {
  email: string;
  password: string;
}

/** What surrounds a phone. */
export interface PhoneSetup {
  credentials: Credentials;
  random: Random;
  /** Address of the server, as the phone reaches it. */
  url: string;
  onResponse?: (response: SeenResponse) => void;
}

/** How often an answer to a refresh is lost on purpose. */
const lostRefreshShare = 0.3;

/** How long after its first use a refresh token may be used again, with room for a slow machine. */
const graceMs = 25_000;

/** How often a refresh token may be used: once, and once more where the answer was lost. */
const triesMax = 2;

/** Requests with the device's token. */
export class PhoneSession {
  /** How often the phone was signed out though it kept the rules. */
  signOutCount = 0;

  constructor(
    private readonly disk: PhoneDisk,
    private readonly serverState: PhoneSetup,
  ) {}

  /** An absolute address. */
  urlOf(path: string): string {
    return this.serverState.url + path;
  }

  get accessToken(): string {
    return this.disk.state.accessToken ?? "";
  }

  /** Registers the phone, with its user's password. */
  async register(pushToken?: string): Promise<ApiResponse> {
    const { state } = this.disk;
    const response = await this.open("/api/mobile/auth/register", {
      ...this.serverState.credentials,
      deviceInfo: {
        deviceId: state.deviceId,
        platform: "android",
        model: "Test Phone",
        osVersion: "16",
        appVersion: "1.0.0",
        ...(pushToken === undefined ? {} : { pushToken }),
      },
    });
    this.keepTokens(response.expect(200));
    return response;
  }

  /** Signs a registered phone in again. */
  async signIn(): Promise<void> {
    const response = await this.open("/api/mobile/auth", {
      ...this.serverState.credentials,
      deviceId: this.disk.state.deviceId,
    });
    this.keepTokens(response.expect(200));
  }

  /** A fresh pair of tokens. Now and then the answer is lost, and the phone asks again with the token that it has. */
  async refresh(): Promise<void> {
    const { state } = this.disk;
    state.refreshingSinceMs ??= Date.now();
    if (this.serverState.random.chance(lostRefreshShare)) await this.tryRefresh();
    const response = await this.tryRefresh();
    if (response.status === 401) {
      const isInTime = Date.now() - state.refreshingSinceMs < graceMs;
      if (isInTime && (state.refreshTries ?? 0) <= triesMax) this.signOutCount += 1;
      await this.signIn();
      return;
    }
    this.keepTokens(response.expect(200));
  }

  /** A request with the token; an ended token is renewed once. */
  async call(method: string, path: string, json?: unknown): Promise<ApiResponse> {
    const first = await this.attempt(method, path, json);
    if (first.status !== 401) return first;
    await this.refresh();
    const second = await this.attempt(method, path, json);
    if (second.status === 401) throw second.unexpected("a fresh token is refused");
    return second;
  }

  /** Sends anything, and notes the answer. */
  async send(
    method: string,
    url: string,
    headers: Record<string, string>,
    body?: Uint8Array<ArrayBuffer>,
  ): Promise<ApiResponse> {
    return send({ method, url, headers, ...(body === undefined ? {} : { body }) }, this.serverState.onResponse);
  }

  private async attempt(method: string, path: string, json?: unknown): Promise<ApiResponse> {
    return send(
      {
        method,
        url: this.urlOf(path),
        headers: { authorization: `Bearer ${this.accessToken}` },
        ...(json === undefined ? {} : { json }),
      },
      this.serverState.onResponse,
    );
  }

  private async open(path: string, json: unknown): Promise<ApiResponse> {
    return send({ method: "POST", url: this.urlOf(path), json }, this.serverState.onResponse);
  }

  private async tryRefresh(): Promise<ApiResponse> {
    const { state } = this.disk;
    const { refreshToken, deviceId } = state;
    state.refreshTries = (state.refreshTries ?? 0) + 1;
    this.disk.save();
    return this.open("/api/mobile/auth/refresh", { refreshToken, deviceId });
  }

  private keepTokens(response: ApiResponse): void {
    const { state } = this.disk;
    state.accessToken = response.text("tokens.accessToken");
    state.refreshToken = response.text("tokens.refreshToken");
    delete state.refreshingSinceMs;
    delete state.refreshTries;
    this.disk.save();
  }
}

/** Tries again while the line is down. */
export async function untilHeard<T>(ask: () => Promise<T>, triesMax = 200): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof LineDown) || tries === triesMax) throw error;
      await Bun.sleep(Math.min(20 * tries, 200));
    }
  }
}

/** Whether an error only says that the phone must try again later. */
export function isPassing(error: unknown): boolean {
  return error instanceof LineDown || error instanceof PhoneCrashed;
}
