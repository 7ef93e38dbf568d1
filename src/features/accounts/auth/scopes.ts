/**
 * What an API key may do. Each route declares the scope that it requires of a key, so that no route is open to keys by
 * accident.
 */

/** All scopes, for validation and help texts. */
export const SCOPES = ["files:read", "files:write", "shares", "profile", "admin"] as const;

/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

/** The scopes of a key if none were given. */
export const DEFAULT_SCOPES: readonly Scope[] = ["files:read", "files:write"];

/**
 * What a route requires of a key: a scope; `any` if every key may use it; `never` if no key may; `device` for
 * registered devices, where a key is not valid.
 */
export type ScopeRule = Scope | "any" | "never" | "device";
