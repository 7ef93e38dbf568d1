// Virtual authenticators of a browser under test, in place of a fingerprint reader (WebAuthn, automation §11).
import type { Page } from "playwright-core";

/** A passkey as an authenticator stores it. In another browser, it belongs to the same person. */
interface Credential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId?: string;
  readonly privateKey: string;
  readonly userHandle?: string;
  readonly signCount: number;
}

/** An authenticator in a browser. */
interface TestAuthenticator {
  /** Its first passkey. */
  credential(): Promise<Credential>;
  /** Signs in on the sign-in page, by the button or by autofill: by the first that the page offers. */
  signIn(): Promise<void>;
}

/**
 * Gives a page's browser an authenticator that always approves; or, with `isUserVerified: false`, one that verifies
 * nobody.
 * @param credential a passkey that it has from the start
 */
export async function addAuthenticator(
  page: Page,
  credential?: Credential,
  { isUserVerified = true } = {},
): Promise<TestAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable", { enableUI: false });
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
  if (credential !== undefined) await session.send("WebAuthn.addCredential", { authenticatorId, credential });
  return {
    async credential() {
      const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
      const [first] = credentials;
      if (first === undefined) throw new Error("the authenticator has no passkey");
      return first;
    },
    async signIn() {
      const button = page.getByRole("button", { name: "Sign in with a passkey" });
      const gone = page.waitForURL((url) => !url.pathname.endsWith("/sign-in"));
      // Autofill that is accepted at once leaves no time for the button.
      await Promise.race([gone, button.click()]);
    },
  };
}
