/** The ways to confirm a session. */
import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/browser";
import { request } from "../../api/http.ts";
import type { Session } from "../../api/types.ts";
import { currentAddress } from "../../base/address.ts";
import { PasskeyDismissed } from "../../api/passkey.ts";

/** By the password, and a code where the account asks for one. @throws ApiError */
export async function confirmByPassword(currentPassword: string, code: string): Promise<void> {
  const body = { currentPassword, ...(code.trim() !== "" && { code: code.trim() }) };
  await request("POST", "/api/auth/confirm", { body });
}

/** By a passkey. @throws PasskeyDismissed | ApiError */
export async function confirmByPasskey(): Promise<void> {
  const path = "/api/auth/confirm/passkey";
  const { options } = await request<{ options: PublicKeyCredentialRequestOptionsJSON }>("POST", `${path}/options`);
  const { startAuthentication } = await import("@simplewebauthn/browser");
  const response = await startAuthentication({ optionsJSON: options }).catch((error: unknown) => {
    throw new PasskeyDismissed("No passkey was used.", { cause: error });
  });
  await request("POST", path, { body: { response } });
}

/**
 * Begins to confirm by the provider, in a window of its own, so that what was typed on this page stays. Where the browser
 * opens none, this page goes there and comes back.
 */
export async function openProvider(): Promise<void> {
  const path = "/api/auth/confirm/provider";
  const { url } = await request<{ url: string }>("POST", path);
  const opened = window.open(url, "_blank");
  if (opened !== null) {
    opened.opener = null;
    return;
  }
  const back = await request<{ url: string }>("POST", path, { body: { returnTo: currentAddress() } });
  window.location.assign(back.url);
}

/** Whether this session counts as confirmed by now. */
export async function isConfirmed(): Promise<boolean> {
  const { session } = await request<{ session: Session }>("GET", "/api/auth/session");
  return session.confirmedUntil !== null && session.confirmedUntil !== undefined;
}
