import { type Message, sayText } from "../translations/say.ts";

/**
 * A problem of the machine or the configuration that the operator can fix. The message says what is wrong, then what to
 * do. Commands print only the message, and exit with 2.
 */
export class StartupError extends Error {
  override readonly name: string = "StartupError";

  /** The message, for a reader who may use another language. */
  readonly text: Message;

  /** @param message a {@link Message} if the web app can show it too */
  constructor(message: string | Message, cause?: unknown) {
    const text = typeof message === "string" ? sayText(message) : message;
    super(text.english, cause === undefined ? undefined : { cause });
    this.text = text;
  }
}

/** The configuration is not valid; the message lists every fault. */
export class ConfigError extends StartupError {
  override readonly name = "ConfigError";
}
