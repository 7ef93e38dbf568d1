/** Kinds of failures that callers handle differently. */
type S3Problem = "absent" | "unreachable" | "refused" | "damaged" | "cut";

/** A request to the service failed. The message is for the operator. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  /**
   * `absent`: the object is missing. `unreachable`: no response, or a temporary failure. `refused`: credentials, bucket or
   * address are wrong. `damaged`: bytes are wrong or missing. `cut`: the transfer broke off while the service works.
   */
  readonly problem: S3Problem;
  /** The service's error code, such as `SignatureDoesNotMatch`, if it sent one. */
  readonly code: string | undefined;

  constructor(
    problem: S3Problem,
    message: string,
    { code, cause }: { code?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.code = code;
  }
}
