import { ContentFault } from "../processes/content-fault.ts";
import type { VideoFormat } from "./formats.ts";
import { findResidentBytes } from "../processes/process-usage.ts";

/** The path and the limits of ffmpeg. */
export interface VideoLimits {
  readonly ffmpeg: string;
  readonly timeoutMs: number;
  readonly memoryLimitBytes: number;
}

/** A frame of 1,600 pixels as PNG is much smaller. */
const FRAME_SIZE_BYTES_MAX = 64 * 1024 * 1024;

const WATCH_INTERVAL_MS = 100;

/** Positions of the frame: the first second is often black; the first frame is for shorter videos. */
const POSITIONS_SECONDS = [1, 0];

/**
 * Takes one frame of a video as PNG, turned upright, square pixels, its longest side at most `longestSide`.
 *
 * ffmpeg gets fixed arguments, the one demuxer for the detected format, no protocols other than files and pipes, no
 * environment, and limits of time and memory.
 *
 * @throws ContentFault
 */
export async function grabFrame(
  path: string,
  format: VideoFormat,
  longestSide: number,
  limits: VideoLimits,
): Promise<Buffer> {
  const deadlineMs = performance.now() + limits.timeoutMs;
  let complaint = "no frame";
  for (const position of POSITIONS_SECONDS) {
    const remainingMs = deadlineMs - performance.now();
    if (remainingMs <= 0) throw new ContentFault(`ffmpeg took longer than ${limits.timeoutMs} ms`);
    const result = await run(frameArguments(path, format, longestSide, position), limits, remainingMs);
    if (result.frame.byteLength > 0) return result.frame;
    complaint = result.complaint;
  }
  throw new ContentFault(`ffmpeg: ${complaint}`);
}

function frameArguments(path: string, format: VideoFormat, longestSide: number, positionSeconds: number): string[] {
  const side = String(longestSide);
  const upright = "scale=w='trunc(iw*sar)':h=ih,setsar=1";
  const reduced = `scale=w='min(${side},iw)':h='min(${side},ih)':force_original_aspect_ratio=decrease`;
  const general = "-nostdin -hide_banner -loglevel error -protocol_whitelist file,pipe -threads 1".split(" ");
  const input = ["-noaccurate_seek", "-ss", String(positionSeconds), "-f", format, "-i", `file:${path}`];
  const output = "-map 0:v:0 -frames:v 1 -an -sn -dn -f image2pipe -c:v png".split(" ");
  return [...general, ...input, ...output, "-vf", `${upright},${reduced}`, "pipe:1"];
}

async function run(
  args: readonly string[],
  limits: VideoLimits,
  timeoutMs: number,
): Promise<{ frame: Buffer; complaint: string }> {
  const child = Bun.spawn([limits.ffmpeg, ...args], {
    env: {},
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let killReason: string | undefined;
  const kill = (reason: string): void => {
    killReason ??= reason;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => kill(`took longer than ${Math.round(timeoutMs)} ms`), timeoutMs);
  const watch = setInterval(() => {
    if ((findResidentBytes(child.pid) ?? 0) > limits.memoryLimitBytes) kill("needed too much memory");
  }, WATCH_INTERVAL_MS);
  try {
    const [frame, errors] = await Promise.all([
      readBounded(child.stdout, FRAME_SIZE_BYTES_MAX, () => kill("wrote too large a frame")),
      readBounded(child.stderr, 4096, () => {}),
    ]);
    await child.exited;
    if (killReason !== undefined) throw new ContentFault(`ffmpeg ${killReason}`);
    // The path of the file does not help a reader and must not be disclosed.
    const complaint =
      errors
        .toString("utf8")
        .trim()
        .split("\n")
        .at(-1)
        ?.replaceAll(/file:\S+/g, "the file") ?? "";
    return { frame, complaint: complaint.slice(0, 200) || "no frame" };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    child.kill("SIGKILL");
  }
}

/** Reads to the end and returns the first `limitBytes`; beyond them `onOverflow` is called once. */
async function readBounded(
  stream: ReadableStream<Uint8Array>,
  limitBytes: number,
  onOverflow: () => void,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream) {
    if (sizeBytes > limitBytes) continue;
    sizeBytes += chunk.byteLength;
    if (sizeBytes > limitBytes) onOverflow();
    else chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
