/** Address of the bucket, and credentials. */
export interface S3Options {
  /** Base address of the service, without a path: `https://s3.example.org`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Whether the bucket is named in the path (MinIO, Ceph, Garage) rather than in the host name (AWS). */
  readonly isPathStyle: boolean;
  /** How long the service may send nothing; default 20 s. */
  readonly silenceMs?: number;
}

/** Bun's client of the bucket. */
export function openBunClient(options: S3Options): Bun.S3Client {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey, isPathStyle } = options;
  return new Bun.S3Client({
    endpoint: isPathStyle ? endpoint : inHostName(endpoint, bucket),
    region,
    bucket,
    accessKeyId,
    secretAccessKey,
    virtualHostedStyle: !isPathStyle,
  });
}

function inHostName(endpoint: string, bucket: string): string {
  const url = new URL(endpoint);
  url.hostname = `${bucket}.${url.hostname}`;
  return url.origin;
}
