/** A challenge is valid for five minutes. The autofill of the email field gets a new one before that. */
export const PASSKEY_RENEW_MS = 4 * 60 * 1000;
