/**
 * A phone of the benchmark's account, with its own token.
 */
import { type Larder, PASSWORD } from "./larder.ts";

export interface Device {
  token: string;
  /** The `Authorization` header line, with CRLF. */
  headers: string;
}

/** Registers a device of the benchmark's account. */
export async function registerDevice(larder: Larder, deviceId: string): Promise<Device> {
  const response = await call(larder, "/api/mobile/auth/register", undefined, {
    email: larder.email,
    password: PASSWORD,
    deviceInfo: { deviceId, platform: "android", model: "Bench" },
  });
  const token = textAt(response, "tokens", "accessToken");
  return { token, headers: `Authorization: Bearer ${token}\r\n` };
}

/** Sends a request, by POST if it has a body. @returns the parsed response @throws Error if it fails */
export async function call(larder: Larder, path: string, device?: Device, body?: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${larder.port}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(device !== undefined && { authorization: `Bearer ${device.token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} responded with ${response.status}: ${text.slice(0, 400)}`);
  const parsed: unknown = JSON.parse(text);
  return parsed;
}

/** Reads the value at a path of keys in a response. */
export function at(response: unknown, ...keys: (string | number)[]): unknown {
  let value = response;
  for (const key of keys) value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return value;
}

/** Reads the string at a path of keys in a response. @throws Error if it is none */
export function textAt(response: unknown, ...keys: (string | number)[]): string {
  const value = at(response, ...keys);
  if (typeof value !== "string") throw new Error(`${keys.join(".")} is not a string in ${JSON.stringify(response)}`);
  return value;
}
