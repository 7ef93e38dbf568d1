/**
 * Something about the machine or its configuration keeps the program from running; its operator can put it right.
 * The message is written for that person: what is wrong, then what to do. Commands print it alone and exit with 2.
 */
export class StartupError extends Error {
  override readonly name: string = "StartupError";

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}
