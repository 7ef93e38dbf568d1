/** The second factors of accounts, as sign-in uses them. `features/accounts/two-factor` implements this. */
export interface SecondFactors {
  /** What an account can answer with beside its password, such as `totp`; empty where the password is enough. */
  methodsOf(userId: number): readonly string[];
  /**
   * Uses a code up: it is good this once. Durable when this returns.
   * @throws AppError invalid_code | rate_limited
   */
  use(userId: number, code: string): Promise<void>;
}
