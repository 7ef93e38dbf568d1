/** `larder verify --bucket`: reads the blobs that only the bucket has. */
import type { Digest } from "../../blobs/digest.ts";
import { S3Error } from "../../blobs/s3/error.ts";
import { describeSize, formatSize, parseSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import type { RemoteStoreService } from "../../features/storage/remote-store/service.ts";
import type { ContentFault } from "../../features/storage/integrity/hash-file.ts";
import { systemClock } from "../../lib/clock.ts";
import { type CommandDefinition, type RunningCommand, UsageError } from "../shared/command.ts";
import { blobProgress } from "../shared/progress.ts";

/** The result of reading the bucket. */
export interface BucketReading {
  readonly contents: number;
  readonly bytes: number;
  readonly faults: ReadonlyMap<Digest, ContentFault>;
}

const MAX_BYTES = "10GB";
const MB = 1024 * 1024;

export const BUCKET_OPTIONS: NonNullable<CommandDefinition["options"]> = [
  ["--bucket", "Also read the blobs that are stored only in the bucket. The provider may charge for it."],
  ["--max-bytes <size>", `With --bucket: ask before reading more than this. (default: ${MAX_BYTES})`],
  ["--rate <size>", "With --bucket: maximum bytes read per second. (default: s3.verifyRate)"],
];

/** Whether --bucket was given. @throws UsageError if options contradict each other */
export function wantsBucket(command: RunningCommand, isCopy: boolean): boolean {
  const isRequested = command.has("bucket");
  if (!isRequested && (command.text("maxBytes") ?? command.text("rate")) !== undefined)
    throw new UsageError("--max-bytes and --rate require --bucket.");
  if (isRequested && (isCopy || command.has("quick") || command.has("readOnly"))) {
    throw new UsageError("--bucket cannot be combined with DIR, --quick, or --read-only.");
  }
  return isRequested;
}

/**
 * Reads the blobs that only the bucket has. Asks first if they exceed --max-bytes.
 * @throws UsageError if the answer is no, or there is no terminal to ask; StartupError if the bucket cannot be read
 */
export async function readBucket(
  remoteStore: RemoteStoreService | undefined,
  command: RunningCommand,
): Promise<BucketReading> {
  const { s3 } = command.config;
  if (s3.bucket === null) throw new StartupError("No bucket is configured. Set s3.bucket, or leave out --bucket.");
  if (remoteStore === undefined)
    throw new StartupError("Cannot read the bucket because the data directory cannot be opened.");
  const rateBytes = readSize(command, "rate") ?? s3.verifyRateBytes;
  if (rateBytes === 0) throw new UsageError("--rate must be greater than 0.");
  const all = await remoteStore.countRemoteOnly();
  await confirmReading(command, all.bytes, s3.bucket);
  const show = blobProgress(command.terminal);
  try {
    const read = await remoteStore.readObjects(
      {
        rateBytes,
        untilMs: systemClock.nowMs(),
        onProgress: ({ contents, bytes }) =>
          show({ contents, bytes, ofContents: all.contents, ofBytes: all.bytes, newBytes: bytes }),
      },
      new AbortController().signal,
    );
    const faults = read.faults.flatMap(({ digest, fault }) => (fault === null ? [] : [[digest, fault] as const]));
    return { contents: read.contents, bytes: read.bytes, faults: new Map(faults) };
  } catch (error) {
    if (error instanceof S3Error) throw new StartupError(error.message, error);
    throw error;
  }
}

async function confirmReading(command: RunningCommand, bytes: number, bucket: string): Promise<void> {
  const { terminal } = command;
  const maxBytes = readSize(command, "maxBytes") ?? parseSize(MAX_BYTES) ?? 0;
  if (bytes <= maxBytes) return;
  const excess = `${describeSize(bytes)} are stored only in the bucket ${bucket}, more than --max-bytes ${formatSize(maxBytes)}.`;
  const sufficientOption = `--max-bytes ${formatSize(Math.ceil(bytes / MB) * MB)}`;
  if (!terminal.isInteractive || command.isJson)
    throw new UsageError(`${excess} To read everything: ${sufficientOption}`);
  if (!(await terminal.confirm(`${excess} The provider may charge for reading. Read all of it?`)))
    throw new UsageError(`Nothing was read. To read everything without a prompt: ${sufficientOption}`);
}

function readSize(command: RunningCommand, name: "maxBytes" | "rate"): number | undefined {
  const given = command.text(name);
  if (given === undefined) return undefined;
  const bytes = parseSize(given);
  if (bytes === undefined) throw new UsageError(`"${given}" is not a valid size. Use a size such as 500MB or 20GB.`);
  return bytes;
}
