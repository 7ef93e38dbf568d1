/** A failure caused by the file. It would fail again, so the failure is stored. */
export class ContentFault extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ContentFault";
  }
}
