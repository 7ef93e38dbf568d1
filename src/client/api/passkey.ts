/** Signing in with a passkey. The library is loaded only when it is used. */
import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/browser";
import { request } from "./http.ts";

/** Whether this browser supports passkeys. */
export function knowsPasskeys(): boolean {
  return typeof window.PublicKeyCredential === "function";
}

/** The person closed the browser's dialog, or another attempt replaced it. Not an error to show. */
export class PasskeyDismissed extends Error {}

/**
 * Signs this browser in with a passkey.
 * @param by `button` opens the browser's dialog; `autofill` waits until a passkey is chosen from the suggestions of the
 *   email field, which has `webauthn` in its `autocomplete`
 * @param onChosen called when the person has chosen a passkey; from then on, another attempt would sign in twice
 * @returns the id of the user; undefined if the browser can't suggest passkeys
 * @throws PasskeyDismissed | ApiError
 */
export async function signInWithPasskey(
  by: "button" | "autofill",
  onChosen: () => void = () => undefined,
): Promise<string | undefined> {
  const { startAuthentication, browserSupportsWebAuthnAutofill } = await import("@simplewebauthn/browser");
  if (by === "autofill" && !(await browserSupportsWebAuthnAutofill())) return undefined;
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
  onChosen();
  const { user } = await request<{ user: { id: string } }>("POST", "/api/auth/passkey/verify", {
    body: { response, cookie: true },
  });
  return user.id;
}

/** Cancels a pending attempt. Call it when the page closes, so that none is left behind. */
export async function cancelPasskey(): Promise<void> {
  const { WebAuthnAbortService } = await import("@simplewebauthn/browser");
  WebAuthnAbortService.cancelCeremony();
}
