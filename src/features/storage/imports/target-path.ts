/** Makes paths of other systems valid. */
import { joinPath } from "../../../lib/path.ts";
import { splitName } from "../../../tree/tables/names.ts";

const NAME_BYTES_MAX = 255;
// oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
const INVALID = /[\u0000-\u001f\u007f-\u009f/\\]|\p{Surrogate}/gu;

/** Where a file goes. */
export interface TargetPath {
  /** Normalized. */
  readonly folder: string;
  readonly name: string;
}

/** The place of a file below the target folder. @param path with slashes; empty steps are left out */
export function targetPath(folder: string, path: string): TargetPath {
  const steps = path.split("/").filter((step) => step !== "");
  const name = validName(steps.pop() ?? "");
  return { folder: steps.reduce((parent, step) => joinPath(parent, validName(step)), folder), name };
}

/** The name with invalid characters replaced by `_`, and shortened before its extension if it is too long. */
export function validName(name: string): string {
  const replaced = name.replaceAll(INVALID, "_").normalize("NFC");
  if (replaced === "" || replaced === "." || replaced === "..") return replaced.replaceAll(".", "_") || "_";
  if (Buffer.byteLength(replaced) <= NAME_BYTES_MAX) return replaced;
  const { stem, extension } = splitName(replaced);
  const ending = Buffer.byteLength(extension) > NAME_BYTES_MAX / 2 ? "" : extension;
  const characters = Array.from(ending === "" ? replaced : stem);
  while (Buffer.byteLength(characters.join("")) + Buffer.byteLength(ending) > NAME_BYTES_MAX) characters.pop();
  return `${characters.join("")}${ending}`;
}
