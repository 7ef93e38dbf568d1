import type { OidcService } from "./service.ts";

/** What decides which sign-in methods there are. */
interface SignInMethodsOptions {
  /** Undefined if no provider is configured. */
  readonly oidc: Pick<OidcService, "name"> | undefined;
  /** Read at each call, because an administrator may change it. */
  readonly config: { readonly signup: "open" | "invite" | "closed" };
  readonly mail: { readonly isConfigured: boolean };
  readonly users: { hasAny(): boolean };
}

/** The available sign-in methods. */
export type SignInMethods = ReturnType<ReturnType<typeof signInMethods>>;

/**
 * Returns a function that lists the sign-in methods, as `GET /api/auth/methods` sends them. They depend on the address
 * of this server as the client sees it.
 */
export function signInMethods({ oidc, config, mail, users }: SignInMethodsOptions) {
  return (baseUrl: string) => ({
    password: true,
    signup: config.signup,
    oidc: oidc === undefined ? null : { name: oidc.name, startUrl: `${baseUrl}/api/auth/oidc/start` },
    passkeys: canHavePasskeys(baseUrl),
    mail: mail.isConfigured,
    isSetUp: users.hasAny(),
  });
}

/** Browsers offer passkeys only to sites with a domain name and HTTPS, and to localhost (WebAuthn §5.1.3). */
function canHavePasskeys(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return hostname === "localhost" || (protocol === "https:" && !/^[\d.]+$|^\[/.test(hostname));
}
