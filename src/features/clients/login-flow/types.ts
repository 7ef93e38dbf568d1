import type { NewAppPassword } from "../../accounts/app-passwords/types.ts";

/** A sign-in that a program began in a browser, as the person there sees it. */
export interface LoginFlow {
  /** What the program calls itself. */
  readonly program: string;
  readonly clientAddress: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** The request with which a program begins a sign-in. */
export interface LoginFlowRequest {
  /** Its User-Agent. */
  readonly userAgent: string | null;
  readonly clientAddress: string;
  /** Whether it asks for the result itself. Otherwise the page passes it on. */
  readonly isPolling: boolean;
}

/** A sign-in that has begun. */
export interface BegunLoginFlow {
  /** The end of the page's address. */
  readonly token: string;
  /** With it, the program asks for the result. */
  readonly pollToken: string;
}

/** The result of a sign-in. */
export interface LoginResult {
  readonly loginName: string;
  readonly password: string;
}

/** What a person agreed to. */
export interface Agreement {
  /** Public id that the app password has, or gets when the program asks for it. */
  readonly publicId: string;
  /** The result, if the page passes it on. */
  readonly result: LoginResult | undefined;
}

/** What the person chose for the app password. */
export type LoginChoices = Pick<NewAppPassword, "access" | "folder"> & { readonly name?: string | undefined };
