/** The ways to confirm a session. */
import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/browser";
import { request } from "../../api/http.ts";
import type { Session } from "../../api/types.ts";
import { currentAddress } from "../../base/address.ts";
import { PasskeyDismissed } from "../../api/passkey.ts";

/**
 * With the password, and a code if the account requires one.
 * @throws ApiError
 */
export async function confirmByPassword(currentPassword: string, code: string): Promise<void> {
  const body = { currentPassword, ...(code.trim() !== "" && { code: code.trim() }) };
  await request("POST", "/api/auth/confirm", { body });
}

/**
 * With a passkey.
 * @throws PasskeyDismissed | ApiError
 */
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
 * Starts a confirmation by the OIDC provider in a new window, so that input on this page is not lost. If the browser
 * opens no window, this page goes there and returns.
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

/** Whether this session is confirmed now. */
export async function isConfirmed(): Promise<boolean> {
  const { session } = await request<{ session: Session }>("GET", "/api/auth/session");
  return session.confirmedUntil !== null && session.confirmedUntil !== undefined;
}
