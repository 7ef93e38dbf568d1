/** Signing in with a passkey. The library is loaded by those alone who use it. */
import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/browser";
import { request } from "./http.ts";

/** Whether this browser knows passkeys. */
export function knowsPasskeys(): boolean {
  return typeof window.PublicKeyCredential === "function";
}

/** The person closed the browser's dialog, or another attempt took its place: nothing to complain of. */
export class PasskeyDismissed extends Error {}

/**
 * Signs this browser in with a passkey.
 * @param by `button` opens the browser's dialog; `autofill` waits until one is chosen among the suggestions of the
 *   e-mail field, which has `webauthn` in its `autocomplete`
 * @returns false where the browser can't suggest passkeys
 * @throws PasskeyDismissed | ApiError
 */
export async function signInWithPasskey(by: "button" | "autofill"): Promise<boolean> {
  const { startAuthentication, browserSupportsWebAuthnAutofill } = await import("@simplewebauthn/browser");
  if (by === "autofill" && !(await browserSupportsWebAuthnAutofill())) return false;
  const { options } = await request<{ options: PublicKeyCredentialRequestOptionsJSON }>(
    "POST",
    "/api/auth/passkey/options",
  );
  const response = await startAuthentication({
    optionsJSON: options,
    useBrowserAutofill: by === "autofill",
    verifyBrowserAutofillInput: false,
  }).catch((error: unknown) => {
    throw new PasskeyDismissed("No passkey was used.", { cause: error });
  });
  await request("POST", "/api/auth/passkey/verify", { body: { response, cookie: true } });
  return true;
}

/** Ends an attempt that waits, so that none is left behind by a page that goes. */
export async function cancelPasskey(): Promise<void> {
  const { WebAuthnAbortService } = await import("@simplewebauthn/browser");
  WebAuthnAbortService.cancelCeremony();
}
