/**
 * A phone as the bench has one: registered with the bench's account, asking with its own token.
 */
import { type Larder, PASSWORD } from "./larder.ts";

/** What a device's requests need. */
export interface Device {
  token: string;
  /** `Authorization` as a header line, ended by CRLF. */
  headers: string;
}

/** Registers a device of the bench's account. */
export async function registerDevice(larder: Larder, deviceId: string): Promise<Device> {
  const answer = await call(larder, "/api/mobile/auth/register", undefined, {
    email: larder.email,
    password: PASSWORD,
    deviceInfo: { deviceId, platform: "android", model: "Bench" },
  });
  const token = textAt(answer, "tokens", "accessToken");
  return { token, headers: `Authorization: Bearer ${token}\r\n` };
}

/** A request that must succeed; POST where it has a body. @returns the parsed answer */
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
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 400)}`);
  const answer: unknown = JSON.parse(text);
  return answer;
}

/** What lies in an answer under these keys. */
export function at(answer: unknown, ...keys: (string | number)[]): unknown {
  let value = answer;
  for (const key of keys) value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return value;
}

/** The same, where it must be a text. */
export function textAt(answer: unknown, ...keys: (string | number)[]): string {
  const value = at(answer, ...keys);
  if (typeof value !== "string") throw new Error(`${keys.join(".")} is no text in ${JSON.stringify(answer)}`);
  return value;
}
