import type { S3Options } from "../../../blobs/s3/options.ts";
import { readPasswordFile } from "../../../config/secrets.ts";
import { findSessionToken } from "../../../config/session-token.ts";
import type { Config } from "../../../config/settings.ts";
import { StartupError } from "../../../config/startup-error.ts";

/**
 * The address and the keys of the configured bucket; undefined if none is set.
 * @throws StartupError if settings contradict each other
 */
export function readS3Options(s3: Config["s3"]): S3Options | undefined {
  if (s3.endpoint === null && s3.bucket === null) return undefined;
  if (s3.endpoint === null || s3.bucket === null || s3.accessKeyId === null) {
    throw new StartupError(
      "s3.endpoint, s3.bucket, s3.accessKeyId, and s3.secretAccessKey (or s3.secretAccessKeyFile) must be set together. Set all or none.",
    );
  }
  const secretAccessKey =
    s3.secretAccessKeyFile === null ? s3.secretAccessKey : readPasswordFile(s3.secretAccessKeyFile);
  if (secretAccessKey === null || secretAccessKey === "") {
    throw new StartupError("s3.secretAccessKey is not set. To use the bucket, set it or s3.secretAccessKeyFile.");
  }
  rejectForeignToken();
  const { endpoint, region, bucket, accessKeyId, pathStyle: isPathStyle } = s3;
  return { endpoint, region, bucket, accessKeyId, secretAccessKey, isPathStyle };
}

function rejectForeignToken(): void {
  const name = findSessionToken();
  if (name === undefined) return;
  throw new StartupError(
    `${name} is set in the environment, but session tokens are not supported. Remove it, then start again.`,
  );
}
