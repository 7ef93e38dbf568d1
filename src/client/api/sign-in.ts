/** The requests of signing in. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { request } from "./http.ts";

/** How people may sign in here: `GET /api/auth/methods`. */
export interface SignInMethods {
  readonly password: boolean;
  readonly signup: "open" | "invite" | "closed";
  readonly oidc: { readonly name: string; readonly startUrl: string } | null;
  readonly passkeys: boolean;
  /** Whether a new password can be asked for by mail. */
  readonly mail: boolean;
  /** False as long as nobody has an account. */
  readonly isSetUp: boolean;
}

/** How people may sign in here. Asked anew for each visit: whether there is an account changes. */
export function useSignInMethods(): UseQueryResult<SignInMethods> {
  return useQuery({
    queryKey: ["sign-in-methods"],
    queryFn: ({ signal }) => request<SignInMethods>("GET", "/api/auth/methods", { signal }),
  });
}

/** What a password sign-in sends; `code` once the account has asked for it. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly code?: string;
}

/** Signs this browser in by its cookie. @throws ApiError bad_credentials, second_factor_required, invalid_code … */
export async function signIn(credentials: Credentials): Promise<void> {
  await request("POST", "/api/auth/signin", { body: { ...credentials, cookie: true } });
}

/** Asks for a link to set a new password. @returns what the server says of it, the same for every address */
export async function requestPasswordLink(email: string): Promise<string> {
  const { message } = await request<{ message: string }>("POST", "/api/auth/password/forgot", { body: { email } });
  return message;
}
