import type { Role, User } from "../users/types.ts";

/** A user as the provider describes them, after all checks. */
export interface ProviderUser {
  /** Never given to somebody else by this provider. */
  readonly subject: string;
  readonly email: string | undefined;
  /** Whether the provider says that the email is this person's. */
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
  /** Empty if the provider sends none. */
  readonly groups: readonly string[];
}

/** The account that a sign-in enters, and the changes it caused. */
export interface Entry {
  readonly user: User;
  /** Whether the account, or the link to one that was there, was made just now. */
  readonly made: "account" | "link" | undefined;
  /** The role that the provider's groups gave just now. */
  readonly role: Role | undefined;
}

/** The result of a sign-in: a session cookie, or a code that a program exchanges for a token. */
export type SignInMode = "cookie" | "code";

/** All of {@link SignInMode}. */
export const SIGN_IN_MODES: readonly SignInMode[] = ["cookie", "code"];

/** A sign-in that was begun. It lies, sealed, with the browser that began it, and nowhere else. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  /** The address to which the provider redirects the browser. */
  readonly redirectUri: string;
  /** Path on this server where the browser goes in the end; empty where nowhere was said. */
  readonly returnTo: string;
  readonly mode: SignInMode;
  /** base64url of the sha256 of what has to come with the code; empty where nothing has to. */
  readonly challenge: string;
  /** The purpose of a user who is signed in already; null for a sign-in. */
  readonly bySession: {
    /** `link`: let the provider's user enter the account; `confirm`: confirm the session. */
    readonly purpose: "link" | "confirm";
    /** Public ids of the account and the session. */
    readonly userId: string;
    readonly sessionId: string;
    /** Digest of the password hash: a new password ends the attempt. */
    readonly basis: string;
  } | null;
  readonly startedAtMs: number;
  readonly expiresAtMs: number;
}
