/** The errors of failed sign-ins and invalid credentials, with the same text everywhere. */
import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";

/** The one response to an unknown email and to a wrong password. */
export function badCredentials(): AppError {
  return new AppError("bad_credentials", say`The email or password is wrong. Check both and try again.`);
}

/** Only for callers who proved that the account is theirs. */
export function accountDisabled(): AppError {
  return new AppError("account_disabled", say`This account is disabled. Ask your administrator to enable it.`);
}

/** The token was valid earlier. */
export function expiredToken(): AppError {
  return new AppError("expired_token", say`The access token has expired. Sign in again.`);
}

/** The session of the token has been ended. */
export function revokedToken(): AppError {
  return new AppError("revoked_token", say`You were signed out. Sign in again.`);
}

/**
 * The account has a second factor, and the request contains none.
 * @param methods the methods that the account accepts
 */
export function secondFactorRequired(methods: readonly string[]): AppError {
  return new AppError(
    "second_factor_required",
    say`Two-factor authentication is required. Repeat the request with \`code\`: six digits from your authenticator app, or a recovery code.`,
    { methods },
  );
}

/** A way to prove that the owner of an account makes a request. */
export type ProofMethod = "password" | "passkey" | "provider";

/**
 * The session alone is not enough for this.
 * @param methods the ways to confirm it; the usual one first
 * @param needsCode whether the password requires a code
 */
export function proofRequired(methods: readonly ProofMethod[], needsCode: boolean): AppError {
  return new AppError(
    "password_required",
    say`Confirm your identity first. Send \`currentPassword\` with the request, or confirm this session at /api/auth/confirm.`,
    { methods, needsCode },
  );
}

/** The one response to a wrong, an expired and a used code. */
export function invalidCode(): AppError {
  return new AppError(
    "invalid_code",
    say`The code is wrong, expired, or already used. Wait for the next code, then try again.`,
  );
}

/** The request contains no token. */
export function missingToken(): AppError {
  return new AppError(
    "missing_token",
    say`Sign in first, then send your token in the header "Authorization: Bearer …".`,
  );
}

/** The header for the token has another form. */
export function notBearer(): AppError {
  return new AppError(
    "invalid_token",
    say`The Authorization header must be "Bearer" followed by a space and the token.`,
  );
}
