/**
 * What an API key may do. Each route declares the scope that it needs of a key, so that it is open to keys only once
 * somebody has thought about it.
 */

/** All scopes, for validation and help texts. */
export const SCOPES = ["files:read", "files:write", "shares", "profile", "admin"] as const;

/** One of {@link SCOPES}. */
export type Scope = (typeof SCOPES)[number];

/** What a key may do where nothing was said. */
export const DEFAULT_SCOPES: readonly Scope[] = ["files:read", "files:write"];

/**
 * What a route asks of a key: a scope; `any` for what every key may; `never` for what no key may; `device` for what is
 * for registered devices, where a key is no token at all.
 */
export type ScopeRule = Scope | "any" | "never" | "device";
