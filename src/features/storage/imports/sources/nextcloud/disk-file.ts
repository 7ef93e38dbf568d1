/**
 * Reads folders and files on the disk. What is behind a link is never read: after a folder or file is opened, its real path
 * is compared.
 */
import * as fs from "node:fs";
import { promisify } from "node:util";
import { SourceError } from "../../source.ts";
import { type Message, say } from "../../../../../translations/say.ts";
import { errorCode } from "../../../../../lib/error.ts";

/** A file, as it was when its folder was listed. */
export interface DiskFile {
  /** Absolute, without symbolic links. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

const open = promisify(fs.open);
const close = promisify(fs.close);
const read = promisify(fs.read);
const { O_DIRECTORY, O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;

const BUFFER_BYTES = 256 * 1024;
/** The header of a file that Nextcloud or ownCloud encrypted; it has this length. */
const HEADER_BYTES = 8 * 1024;
const HEADER = /^HBEGIN:[^\n]*:HEND/;

/**
 * The entries of a folder, by name.
 * @param path absolute, without symbolic links
 * @throws the error of the disk; ELOOP if a link has replaced the folder, or one above it
 */
export async function listDiskFolder(path: string): Promise<readonly fs.Dirent[]> {
  const fd = await open(path, O_RDONLY | O_DIRECTORY);
  try {
    const own = `/proc/self/fd/${fd}`;
    if (fs.readlinkSync(own) !== path) throw linkError();
    // Lists the opened folder, even if a link has replaced it since.
    const entries = await fs.promises.readdir(own, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    await close(fd);
  }
}

/** Opens a file, and reads it as a stream. @throws SourceError */
export async function openDiskFile(file: DiskFile): Promise<ReadableStream<Uint8Array>> {
  const fd = await openFile(file);
  let readBytes = 0;
  let isCanceled = false;
  let reading: Promise<unknown> = Promise.resolve();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
          const part = read(fd, buffer, 0, BUFFER_BYTES, null);
          reading = part.catch(() => undefined);
          const { bytesRead } = await part;
          if (isCanceled) return;
          readBytes += bytesRead;
          if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
          checkUnchanged(fd, file, readBytes);
          await close(fd);
          controller.close();
        } catch (error) {
          if (isCanceled) return;
          await close(fd);
          controller.error(error instanceof SourceError ? error : cannotRead(error));
        }
      },
      async cancel() {
        isCanceled = true;
        // Closed before, another file could get the same descriptor while it is read.
        await reading;
        await close(fd);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Whether Nextcloud or ownCloud encrypted the file. @throws SourceError */
export async function isEncrypted(file: DiskFile): Promise<boolean> {
  if (file.sizeBytes < HEADER_BYTES) return false;
  const fd = await openFile(file);
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    await read(fd, header, 0, HEADER_BYTES, 0);
    return HEADER.test(header.toString("latin1"));
  } catch (error) {
    throw cannotRead(error);
  } finally {
    await close(fd);
  }
}

/** @returns its descriptor */
async function openFile({ path }: DiskFile): Promise<number> {
  let fd: number | undefined;
  try {
    // Not blocking, because a named pipe could have replaced the file.
    fd = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    // A link could have replaced a folder above it.
    if (fs.readlinkSync(`/proc/self/fd/${fd}`) === path && fs.fstatSync(fd).isFile()) return fd;
  } catch (error) {
    if (fd !== undefined) await close(fd);
    throw cannotRead(error);
  }
  await close(fd);
  throw new SourceError(say`The file was replaced by a link. Links are not followed.`, false);
}

function checkUnchanged(fd: number, file: DiskFile, readBytes: number): void {
  const isSame = readBytes === file.sizeBytes && Math.floor(fs.fstatSync(fd).mtimeMs) === file.modifiedMs;
  if (isSame) return;
  throw new SourceError(say`The file changed while it was read. Import it again when no program writes to it.`, false);
}

function cannotRead(error: unknown): SourceError {
  return new SourceError(say`The file can't be read: ${describeCode(error)}`, false, { cause: error });
}

/** The error of the disk for a link that is not followed. */
export function linkError(): Error {
  return Object.assign(new Error("a link"), { code: "ELOOP" });
}

/** Why a file or folder on the disk can't be read: a sentence. */
export function describeCode(error: unknown): Message {
  const code = errorCode(error) ?? "unknown cause";
  if (code === "ENOENT") return say`It does not exist.`;
  if (code === "ENOTDIR") return say`It is not a folder.`;
  if (code === "EACCES" || code === "EPERM") return say`This user may not read it. Run the command as another user.`;
  if (code === "ELOOP") return say`It is a symbolic link. Links are not followed.`;
  return say`The disk reported ${code}.`;
}
