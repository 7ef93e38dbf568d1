/** The first lines of a text, for its picture. In a script of its own, because a list may have no text. */
import { apiAddress, OfflineError, readError } from "../../api/http.ts";
import type { FileRecord } from "../../api/types.ts";
import { decode } from "../preview/content.ts";
import { Turns } from "./turns.ts";

/** So that the other requests of the page do not wait for a screen full of texts. */
const turns = new Turns(4);

/** Everything that a tile can show. */
const CHARACTERS_MAX = 1500;

/**
 * Reads the first lines of a text; "" if it has none, or is binary.
 * @throws ApiError, OfflineError; the abort reason of `signal`
 */
export async function readTextStart({ id, version }: Pick<FileRecord, "id" | "version">, signal: AbortSignal) {
  return turns.take(signal, async () => {
    const response = await fetch(apiAddress(`/api/files/${id}/download`, { thumbnail: "text", version }), {
      signal,
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new OfflineError(error);
    });
    if (!response.ok) throw await readError(response);
    return firstLines(new Uint8Array(await response.arrayBuffer()));
  });
}

/** Leaves out empty lines at the beginning. */
function firstLines(bytes: Uint8Array): string {
  const { text, isBinary } = decode(bytes);
  return isBinary
    ? ""
    : text
        .replace(/^\s*\n/, "")
        .slice(0, CHARACTERS_MAX)
        .trimEnd();
}
