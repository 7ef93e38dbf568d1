import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Digest, toDigest } from "../../../../src/blobs/digest.ts";
import { openTextExtractor } from "../../../../src/features/media/documents/open.ts";
import type { TextExtractor } from "../../../../src/features/media/documents/text-extractor.ts";
import type { ExtractedText } from "../../../../src/features/media/documents/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";

/** The command of a real process that reads files: of the built program, or from the source. */
export function workerCommand(name: string): string[] {
  const built = process.env["LARDER_TEST_COMMAND"];
  return built === undefined
    ? [process.execPath, join(import.meta.dir, "../../../../src/main.ts"), name]
    : [built, name];
}

/** An extractor with its own directory. Use with `using`. */
export class Extraction implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), "larder-documents-"));
  readonly extractor: TextExtractor = openTextExtractor({
    command: workerCommand("document-worker"),
    findPath: async (digest) => join(this.directory, digest),
    isBusy: () => false,
    log: silentLog,
  });
  #count = 0;

  /** Stores bytes under a name that is not their digest, which nothing checks here. */
  add(bytes: Uint8Array | string): Digest {
    this.#count++;
    const digest = toDigest(this.#count.toString(16).padStart(64, "0"));
    writeFileSync(join(this.directory, digest), bytes);
    return digest;
  }

  async extract(bytes: Uint8Array | string, mediaType: string): Promise<ExtractedText> {
    return this.extractor.extract(this.add(bytes), mediaType, new AbortController().signal);
  }

  /** The whole text, or why there is none. */
  async text(bytes: Uint8Array | string, mediaType: string): Promise<string> {
    const result = await this.extract(bytes, mediaType);
    if (result.kind === "none") return `none: ${result.reason}`;
    return (await Array.fromAsync(result.text)).join("");
  }

  [Symbol.dispose](): void {
    this.extractor.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
