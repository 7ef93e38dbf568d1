// Phones of a test, each registered over HTTP with its own token.
import { randomBytes } from "node:crypto";
import { type Account, type ApiResponse, Client, type Target } from "./client.ts";

/** A registered device. */
export interface TestDevice {
  /** A client that carries the device's access token. */
  client: Client;
  deviceId: string;
  tokens: { accessToken: string; refreshToken: string };
}

/** An id that no other device has. */
export function freshDeviceId(): string {
  return `phone-${randomBytes(8).toString("hex")}`;
}

/**
 * Sends POST /api/mobile/auth/register. Returns the response with any status.
 * @param extra further fields of deviceInfo
 */
export async function tryRegister(
  target: Target,
  account: Pick<Account, "email" | "password">,
  deviceId: string,
  extra: Record<string, unknown> = {},
): Promise<ApiResponse> {
  const { email, password } = account;
  const deviceInfo = {
    deviceId,
    platform: "android",
    model: "Pixel 9",
    osVersion: "16",
    appVersion: "1.0.0",
    ...extra,
  };
  return new Client(target).post("/api/mobile/auth/register", { email, password, deviceInfo });
}

/** The device in a response to register, mobile/auth or refresh. @throws Error if it was not signed in */
export function readDevice(target: Target, response: ApiResponse): TestDevice {
  if (response.status !== 200) throw new Error(`the device was not signed in: ${response.status} ${response.text}`);
  const accessToken = response.string("tokens.accessToken");
  return {
    client: new Client(target, accessToken),
    deviceId: response.string("device.id"),
    tokens: { accessToken, refreshToken: response.string("tokens.refreshToken") },
  };
}

/**
 * Registers a device for an account, which must succeed.
 *
 * @param extra further fields of deviceInfo, such as platform or pushToken
 */
export async function registerDevice(
  target: Target,
  account: Pick<Account, "email" | "password">,
  deviceId = freshDeviceId(),
  extra: Record<string, unknown> = {},
): Promise<TestDevice> {
  return readDevice(target, await tryRegister(target, account, deviceId, extra));
}

/** Sends POST /api/mobile/auth/refresh. Returns the response with any status. */
export async function tryRefresh(target: Target, refreshToken: string, deviceId: string): Promise<ApiResponse> {
  return new Client(target).post("/api/mobile/auth/refresh", { refreshToken, deviceId });
}
