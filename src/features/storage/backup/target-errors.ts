import { StartupError } from "../../../config/startup-error.ts";
import { errorCode } from "../../../lib/error.ts";

const AGAIN = "The previous backup is unchanged. Then run the command again to continue.";

/** Explains a failed call to the target's disk to the operator. Returns other errors unchanged. */
export function explainTarget(error: unknown, root: string): unknown {
  if (error instanceof StartupError || !(error instanceof Error)) return error;
  const { message } = error;
  const code = errorCode(error) ?? "";
  // SQLite's errors, from writing the copy of the database.
  if (code === "SQLITE_FULL") return explain("ENOSPC", root, message, error);
  if (code.startsWith("SQLITE_CANTOPEN") || code.startsWith("SQLITE_READONLY"))
    return explain("EACCES", root, message, error);
  if (code.startsWith("SQLITE_IOERR")) return explain("EIO", root, message, error);
  return explain(code, root, message, error);
}

function explain(code: string, root: string, message: string, error: Error): unknown {
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new StartupError(`No disk space left in ${root} (${message}). Free some space. ${AGAIN}`, error);
    case "EROFS":
      return new StartupError(`${root} is mounted read-only. Mount it read-write. ${AGAIN}`, error);
    case "ENOENT":
    case "ENOTDIR":
    case "ENODEV":
    case "ENXIO":
    case "ESTALE":
    case "EIO":
      return new StartupError(
        `${root} failed or was removed (${message}). Check its disk and its mount. ${AGAIN}`,
        error,
      );
    case "EACCES":
    case "EPERM":
      return new StartupError(`Cannot write to ${root} (${message}). Check its owner and permissions. ${AGAIN}`, error);
    default:
      return error;
  }
}
