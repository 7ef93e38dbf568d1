// Authenticators of a browser under test: software in place of a fingerprint reader (WebAuthn, automation §11).
import type { Page } from "playwright-core";

/** A passkey as an authenticator keeps it; moved to another browser, it is the same person's. */
export interface Credential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId?: string;
  readonly privateKey: string;
  readonly userHandle?: string;
  readonly signCount: number;
}

/** An authenticator in a browser. */
export interface TestAuthenticator {
  /** The first passkey that it has. */
  credential(): Promise<Credential>;
  /** Signs in on the sign-in page, by the button or by what the browser suggests, whichever comes first. */
  signIn(): Promise<void>;
}

/**
 * Gives a page's browser an authenticator that always says yes; or, with `isUserVerified: false`, one that knows nobody.
 * @param credential a passkey that it has from the beginning
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
      // A suggestion that is taken at once leaves no time for the button.
      await Promise.race([gone, button.click()]);
    },
  };
}
