import type { Role, User } from "../users/types.ts";

/** A user as the provider describes them, after all checks. */
export interface ProviderUser {
  /** The provider never gives it to another user. */
  readonly subject: string;
  readonly email: string | undefined;
  /** Whether the provider says that the email is this person's. */
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
  /** Empty if the provider sends none. */
  readonly groups: readonly string[];
}

/** The account that a user signs in to, and the changes that the sign-in made. */
export interface Entry {
  readonly user: User;
  /** Whether this sign-in created the account, or the link to an existing one. */
  readonly made: "account" | "link" | undefined;
  /** The role that the provider's groups assigned in this sign-in. */
  readonly role: Role | undefined;
}

/** The result of a sign-in: a session cookie, or a code that a program exchanges for a token. */
export type SignInMode = "cookie" | "code";

/** All of {@link SignInMode}. */
export const SIGN_IN_MODES: readonly SignInMode[] = ["cookie", "code"];

/** A sign-in in progress. Only the browser that began it stores it, encrypted. */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  /** The address to which the provider redirects the browser. */
  readonly redirectUri: string;
  /** Path on this server to which the browser returns at the end; empty if none was given. */
  readonly returnTo: string;
  readonly mode: SignInMode;
  /** base64url of the sha256 of the verifier that must come with the code; empty if none is required. */
  readonly challenge: string;
  /** The purpose of an attempt of a user who is signed in already; null for a sign-in. */
  readonly bySession: {
    /** `link`: link the provider's user to the account; `confirm`: confirm the session. */
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
