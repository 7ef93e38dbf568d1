/**
 * A problem of the machine or the configuration that the operator can fix. The message says what is wrong, then what to
 * do. Commands print only the message, and exit with 2.
 */
export class StartupError extends Error {
  override readonly name: string = "StartupError";

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** The configuration is not valid; the message lists every fault. */
export class ConfigError extends StartupError {
  override readonly name = "ConfigError";
}
