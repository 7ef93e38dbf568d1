// The session of a phone: sign-in, tokens and their refresh, and requests.
import type { PhoneDisk } from "./disk.ts";
import { type ApiResponse, LineDown, type SeenResponse, send } from "./http.ts";
import type { Random } from "./random.ts";

/** Thrown when the app crashes. What was not saved is lost. */
export class PhoneCrashed extends Error {
  override readonly name = "PhoneCrashed";
}

/** The credentials of a phone's user. */
export interface Credentials {
  email: string;
  password: string;
}

/** Options of {@link PhoneSession}. */
export interface PhoneSetup {
  credentials: Credentials;
  random: Random;
  /** The address of the server for the phone. */
  url: string;
  onResponse?: (response: SeenResponse) => void;
}

/** Share of refreshes whose response is dropped on purpose. */
const lostRefreshShare = 0.3;

/** How long after its first use a refresh token can be used again; below the server's 30 s, for slow machines. */
const graceMs = 25_000;

/** How often a refresh token can be used: once, and once more if the response was lost. */
const triesMax = 2;

/** Sends requests with the device's token. */
export class PhoneSession {
  /** How often the phone was signed out although it followed the rules. */
  signOutCount = 0;

  constructor(
    private readonly disk: PhoneDisk,
    private readonly setup: PhoneSetup,
  ) {}

  /** An absolute address. */
  urlOf(path: string): string {
    return this.setup.url + path;
  }

  get accessToken(): string {
    return this.disk.state.accessToken ?? "";
  }

  /** Registers the phone with its user's password. */
  async register(pushToken?: string): Promise<ApiResponse> {
    const { state } = this.disk;
    const response = await this.open("/api/mobile/auth/register", {
      ...this.setup.credentials,
      deviceInfo: {
        deviceId: state.deviceId,
        platform: "android",
        model: "Test Phone",
        osVersion: "16",
        appVersion: "1.0.0",
        ...(pushToken === undefined ? {} : { pushToken }),
      },
    });
    this.saveTokens(response.expect(200));
    return response;
  }

  /** Signs a registered phone in again. */
  async signIn(): Promise<void> {
    const response = await this.open("/api/mobile/auth", {
      ...this.setup.credentials,
      deviceId: this.disk.state.deviceId,
    });
    this.saveTokens(response.expect(200));
  }

  /** Refreshes the tokens. Sometimes the response is dropped, and the phone repeats the request with the same token. */
  async refresh(): Promise<void> {
    const { state } = this.disk;
    state.refreshingSinceMs ??= Date.now();
    if (this.setup.random.chance(lostRefreshShare)) await this.tryRefresh();
    const response = await this.tryRefresh();
    if (response.status === 401) {
      const isInTime = Date.now() - state.refreshingSinceMs < graceMs;
      if (isInTime && (state.refreshTries ?? 0) <= triesMax) this.signOutCount += 1;
      await this.signIn();
      return;
    }
    this.saveTokens(response.expect(200));
  }

  /** Sends a request with the access token; after a 401 response, refreshes the tokens and sends it again. */
  async call(method: string, path: string, json?: unknown): Promise<ApiResponse> {
    const first = await this.attempt(method, path, json);
    if (first.status !== 401) return first;
    await this.refresh();
    const second = await this.attempt(method, path, json);
    if (second.status === 401) throw second.unexpected("a new token is rejected");
    return second;
  }

  /** Sends a request without the access token. */
  async send(
    method: string,
    url: string,
    headers: Record<string, string>,
    body?: Uint8Array<ArrayBuffer>,
  ): Promise<ApiResponse> {
    return send({ method, url, headers, ...(body === undefined ? {} : { body }) }, this.setup.onResponse);
  }

  private async attempt(method: string, path: string, json?: unknown): Promise<ApiResponse> {
    return send(
      {
        method,
        url: this.urlOf(path),
        headers: { authorization: `Bearer ${this.accessToken}` },
        ...(json === undefined ? {} : { json }),
      },
      this.setup.onResponse,
    );
  }

  private async open(path: string, json: unknown): Promise<ApiResponse> {
    return send({ method: "POST", url: this.urlOf(path), json }, this.setup.onResponse);
  }

  private async tryRefresh(): Promise<ApiResponse> {
    const { state } = this.disk;
    const { refreshToken, deviceId } = state;
    state.refreshTries = (state.refreshTries ?? 0) + 1;
    this.disk.save();
    return this.open("/api/mobile/auth/refresh", { refreshToken, deviceId });
  }

  private saveTokens(response: ApiResponse): void {
    const { state } = this.disk;
    state.accessToken = response.text("tokens.accessToken");
    state.refreshToken = response.text("tokens.refreshToken");
    delete state.refreshingSinceMs;
    delete state.refreshTries;
    this.disk.save();
  }
}

/** Repeats a request while the line is down. */
export async function retryWhileDown<T>(request: () => Promise<T>, triesMax = 200): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof LineDown) || tries === triesMax) throw error;
      await Bun.sleep(Math.min(20 * tries, 200));
    }
  }
}

/** Whether the phone can try again later after this error. */
export function isTemporary(error: unknown): boolean {
  return error instanceof LineDown || error instanceof PhoneCrashed;
}
