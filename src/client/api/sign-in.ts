/** API requests of the sign-in. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { ResponseData } from "./generated.ts";
import { request } from "./http.ts";

/** The available sign-in methods: `GET /api/auth/methods`. */
export type SignInMethods = ResponseData["GET /api/auth/methods"];

/** The available sign-in methods. Fetched at each visit, because `isSetUp` changes. */
export function useSignInMethods(): UseQueryResult<SignInMethods> {
  return useQuery({
    queryKey: ["sign-in-methods"],
    queryFn: ({ signal }) => request<SignInMethods>("GET", "/api/auth/methods", { signal }),
  });
}

/** The body of a password sign-in; `code` only after the server has required it. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly code?: string;
}

/**
 * Signs this browser in with a session cookie.
 * @throws ApiError bad_credentials, second_factor_required, invalid_code …
 */
export async function signIn(credentials: Credentials): Promise<void> {
  await request("POST", "/api/auth/signin", { body: { ...credentials, cookie: true } });
}

/**
 * Requests an email with a password reset link.
 * @returns the server's message, which is the same for every address
 */
export async function requestPasswordLink(email: string): Promise<string> {
  const { message } = await request<{ message: string }>("POST", "/api/auth/password/forgot", { body: { email } });
  return message;
}
