// An authenticator app of a test, and accounts that have one.
import { Secret, TOTP } from "otpauth";
import type { Account } from "./client.ts";

/**
 * The code of a secret, so many steps of 30 seconds from now. The next step's is good already, and it is good still when
 * the step changes before the server looks at it.
 */
export function generateCode(secret: string, steps = 1): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  return totp.generate({ timestamp: Date.now() + steps * 30_000 });
}

/** A code that is wrong now and around now. */
export function generateWrongCode(secret: string): string {
  const near = new Set([-2, -1, 0, 1, 2, 3].map((steps) => generateCode(secret, steps)));
  return ["000000", "111111", "222222", "333333", "444444", "555555"].find((code) => !near.has(code)) ?? "666666";
}

/**
 * Switches two-factor sign-in on. It is done with the code of the present step, so that the next one's is still good.
 *
 * @returns the secret and the recovery codes
 */
export async function enableTwoFactor({ client, password }: Account): Promise<{ secret: string; codes: string[] }> {
  const setUp = await client.post("/api/users/two-factor/setup", { currentPassword: password });
  if (setUp.status !== 200) throw new Error(`set-up refused: ${setUp.status} ${setUp.text}`);
  const secret = setUp.string("data.secret");
  const enabled = await client.post("/api/users/two-factor/enable", { code: generateCode(secret, 0) });
  if (enabled.status !== 200) throw new Error(`not enabled: ${enabled.status} ${enabled.text}`);
  const codes = enabled.list("data.recoveryCodes").map(String);
  return { secret, codes };
}
