/** `larder verify --bucket`: reads what lies in the bucket alone. */
import type { Digest } from "../../blobs/digest.ts";
import { S3Error } from "../../blobs/s3/error.ts";
import { describeSize, formatSize, parseSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import type { RemoteStoreService } from "../../features/storage/remote-store/service.ts";
import type { ContentFault } from "../../features/storage/integrity/hash-file.ts";
import type { Command } from "commander";
import { systemClock } from "../../lib/clock.ts";
import { hasOption, optionText, UsageError } from "../shared/command.ts";
import type { Terminal } from "../shared/output.ts";
import { progressLine } from "../shared/transfer-progress.ts";

/** What was read from the bucket. */
export interface BucketReading {
  readonly contents: number;
  readonly bytes: number;
  readonly faults: ReadonlyMap<Digest, ContentFault>;
}

const MAX_BYTES = "10GB";
const MB = 1024 * 1024;

/** Adds the options. */
export function addBucketOptions(command: Command): void {
  command
    .option("--bucket", "Also read the blobs that are stored only in the bucket. The provider may charge for it.")
    .option("--max-bytes <size>", `With --bucket: ask before reading more than this. (default: ${MAX_BYTES})`)
    .option("--rate <size>", "With --bucket: maximum bytes read per second. (default: s3.verifyRate)");
}

/** Whether --bucket was given, with what goes along with it alone. @throws UsageError */
export function wantsBucket(command: Command, isCopy: boolean): boolean {
  const isRequested = hasOption(command, "bucket");
  if (!isRequested && (optionText(command, "maxBytes") ?? optionText(command, "rate")) !== undefined)
    throw new UsageError("--max-bytes and --rate require --bucket.");
  if (isRequested && (isCopy || hasOption(command, "quick") || hasOption(command, "readOnly"))) {
    throw new UsageError("--bucket cannot be combined with DIR, --quick, or --read-only.");
  }
  return isRequested;
}

/**
 * Reads what lies in the bucket alone, after a question where that is much.
 * @throws UsageError where it is too much, or nobody can be asked; StartupError where the bucket can't be read
 */
export async function readBucket(
  places: RemoteStoreService | undefined,
  { s3 }: Config,
  command: Command,
  terminal: Terminal,
): Promise<BucketReading> {
  if (s3.bucket === null) throw new StartupError("No bucket is configured. Set s3.bucket, or leave out --bucket.");
  if (places === undefined)
    throw new StartupError("Cannot read the bucket because the data directory cannot be opened.");
  const rateBytes = readSize(command, "rate") ?? s3.verifyRateBytes;
  if (rateBytes === 0) throw new UsageError("--rate must be greater than 0.");
  const all = await places.countAlone();
  await mayRead(all.bytes, s3.bucket, command, terminal);
  const show = progressLine(terminal, process.stderr.isTTY);
  try {
    const read = await places.readObjects(
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

async function mayRead(bytes: number, bucket: string, command: Command, terminal: Terminal): Promise<void> {
  const maxBytes = readSize(command, "maxBytes") ?? parseSize(MAX_BYTES) ?? 0;
  if (bytes <= maxBytes) return;
  const much = `${describeSize(bytes)} are stored only in the bucket ${bucket}, more than --max-bytes ${formatSize(maxBytes)}.`;
  const enough = `--max-bytes ${formatSize(Math.ceil(bytes / MB) * MB)}`;
  if (!terminal.isInteractive || hasOption(command, "json"))
    throw new UsageError(`${much} To read everything: ${enough}`);
  if (!(await terminal.ask(`${much} The provider may charge for reading. Read all of it?`)))
    throw new UsageError(`Nothing was read. To read everything without a prompt: ${enough}`);
}

function readSize(command: Command, name: "maxBytes" | "rate"): number | undefined {
  const given = optionText(command, name);
  if (given === undefined) return undefined;
  const bytes = parseSize(given);
  if (bytes === undefined) throw new UsageError(`"${given}" is not a valid size. Use a size such as 500MB or 20GB.`);
  return bytes;
}
