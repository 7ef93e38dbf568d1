import { setPriority } from "node:os";
import { messageOf } from "../../../lib/error.ts";
import { AreaFault } from "./area-fault.ts";
import { ContentFault } from "../processes/content-fault.ts";
import { denyNetwork } from "../processes/sandbox.ts";
import { preloadReplacedLibvips, setNativeOptions } from "../thumbnails/native.ts";
import type { EditRequest } from "./types.ts";

/** Below the server's priority, above that of thumbnails: somebody waits for the result. */
const PRIORITY = 10;
const REASON_MAX = 300;

/** Exit code if the picture is the cause of the failure. The reason is on standard error. */
export const CONTENT_FAULT_CODE = 3;

/** Exit code if the area to keep is not inside the picture. */
export const AREA_FAULT_CODE = 4;

/**
 * The process that edits one picture: `larder edit-worker`, started only by the server. It reads an {@link EditRequest}
 * from standard input, writes the new file to standard output, and ends.
 */
export async function runEditChild(): Promise<void> {
  denyNetwork({ mayStartPrograms: false });
  setPriority(PRIORITY);
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server writes it: edit-process.ts
    const request = (await Bun.stdin.json()) as EditRequest;
    setNativeOptions({ directory: request.nativeDir, libvips: request.libvips });
    if (!Bun.isStandaloneExecutable) preloadReplacedLibvips();
    const { editPicture } = await import("./edit-picture.ts");
    await Bun.write(Bun.stdout, await editPicture(request.path, request.mediaType, request.edit));
    process.exit(0);
  } catch (error) {
    await Bun.write(Bun.stderr, messageOf(error).replaceAll(/\s+/g, " ").trim().slice(0, REASON_MAX));
    process.exit(error instanceof AreaFault ? AREA_FAULT_CODE : isFaultOfContent(error) ? CONTENT_FAULT_CODE : 1);
  }
}

/** libvips reports damaged pictures as plain errors; errors of the system have a code. */
function isFaultOfContent(error: unknown): boolean {
  return error instanceof ContentFault || (error instanceof Error && !("code" in error));
}
