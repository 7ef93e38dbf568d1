/** The content itself is why there is no picture: it would fail again, so it is remembered. */
export class ContentFault extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ContentFault";
  }
}
