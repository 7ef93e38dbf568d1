// An authenticator app, and accounts with two-factor authentication.
import { Secret, TOTP } from "otpauth";
import type { Account } from "./client.ts";

/**
 * Generates the code of a secret. Default: the code of the next 30-second step. The server already accepts it, and
 * still accepts it if the step changes before the request arrives.
 *
 * @param steps offset from the current step
 */
export function generateCode(secret: string, steps = 1): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate({ timestamp: Date.now() + steps * 30_000 });
}

/** Generates a code that is wrong for the current and the neighboring steps. */
export function generateWrongCode(secret: string): string {
  const validCodes = new Set([-2, -1, 0, 1, 2, 3].map((steps) => generateCode(secret, steps)));
  return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !validCodes.has(code)) ?? "666666";
}

/**
 * Turns two-factor authentication on with the code of the current step, so that the code of the next one stays unused.
 *
 * @returns the secret and the recovery codes
 */
export async function enableTwoFactor({ client, password }: Account): Promise<{ secret: string; codes: string[] }> {
  const setUp = await client.post("/api/users/two-factor/setup", { currentPassword: password });
  if (setUp.status !== 200) throw new Error(`setup failed: ${setUp.status} ${setUp.text}`);
  const secret = setUp.string("data.secret");
  const enabled = await client.post("/api/users/two-factor/enable", { code: generateCode(secret, 0) });
  if (enabled.status !== 200) throw new Error(`not enabled: ${enabled.status} ${enabled.text}`);
  const codes = enabled.list("data.recoveryCodes").map(String);
  return { secret, codes };
}
