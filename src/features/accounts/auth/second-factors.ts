/** The second factors of accounts, as sign-in uses them. `features/accounts/two-factor` implements this. */
export interface SecondFactors {
  /** The second factors of an account, such as `totp`; empty if the password is enough. */
  methodsOf(userId: number): readonly string[];
  /** Uses up a code, which is valid once. Durable when this returns. @throws AppError invalid_code | rate_limited */
  use(userId: number, code: string): Promise<void>;
}
