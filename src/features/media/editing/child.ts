import { setPriority } from "node:os";
import { messageOf } from "../../../lib/error.ts";
import { AreaFault } from "./area-fault.ts";
import { ContentFault } from "../processes/content-fault.ts";
import { denyNetwork } from "../processes/sandbox.ts";
import { preloadReplacedLibvips, setNativeOptions } from "../thumbnails/native.ts";
import type { AvatarRequest, EditRequest } from "./types.ts";

/** Below the server's priority, above that of thumbnails: somebody waits for the result. */
const PRIORITY = 10;
const REASON_MAX = 300;

/** Exit code if the picture is the cause of the failure. The reason is on standard error. */
export const CONTENT_FAULT_CODE = 3;

/** Exit code if the area to keep is not inside the picture. */
export const AREA_FAULT_CODE = 4;

/**
 * The process that edits one picture: `larder edit-worker`, started only by the server. It reads an {@link EditRequest},
 * or an {@link AvatarRequest} and an image, from standard input, writes the new file to standard output, and ends.
 */
export async function runEditChild(): Promise<void> {
  denyNetwork({ mayStartPrograms: false });
  setPriority(PRIORITY);
  try {
    const input = Buffer.from(await Bun.stdin.arrayBuffer());
    const lineEnd = input.indexOf("\n");
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server writes it: edit-process.ts
    const request = JSON.parse(input.toString("utf8", 0, lineEnd)) as EditRequest | AvatarRequest;
    setNativeOptions({ directory: request.nativeDir, libvips: request.libvips });
    if (!Bun.isStandaloneExecutable) preloadReplacedLibvips();
    await Bun.write(Bun.stdout, await makePicture(request, input.subarray(lineEnd + 1)));
    process.exit(0);
  } catch (error) {
    await Bun.write(Bun.stderr, messageOf(error).replaceAll(/\s+/g, " ").trim().slice(0, REASON_MAX));
    process.exit(error instanceof AreaFault ? AREA_FAULT_CODE : isFaultOfContent(error) ? CONTENT_FAULT_CODE : 1);
  }
}

async function makePicture(request: EditRequest | AvatarRequest, image: Buffer): Promise<Buffer> {
  if ("isAvatar" in request) return (await import("./make-avatar.ts")).makeAvatar(image);
  const { editPicture } = await import("./edit-picture.ts");
  return editPicture(request.path, request.mediaType, request.edit);
}

/** libvips reports damaged pictures as plain errors; errors of the system have a code. */
function isFaultOfContent(error: unknown): boolean {
  return error instanceof ContentFault || (error instanceof Error && !("code" in error));
}
