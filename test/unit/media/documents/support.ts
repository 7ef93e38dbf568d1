import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Digest, toDigest } from "../../../../src/blobs/digest.ts";
import { openTextExtractor } from "../../../../src/features/media/documents/open.ts";
import type { TextExtractor } from "../../../../src/features/media/documents/text-extractor.ts";
import type { ExtractedText } from "../../../../src/features/media/documents/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";

/** Runs the real process: the built program, or the source. */
export function documentCommand(): string[] {
  const built = process.env["LARDER_TEST_COMMAND"];
  return built === undefined
    ? [process.execPath, join(import.meta.dir, "../../../../src/main.ts"), "document-worker"]
    : [built, "document-worker"];
}

/** An extractor with its own directory. Use with `using`. */
export class Extraction implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), "larder-documents-"));
  readonly extractor: TextExtractor = openTextExtractor({
    command: documentCommand(),
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

/** A PDF with one line of text on each page. */
export function makePdf(pages: readonly string[]): Buffer {
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, index) => {
      const stream = `BT /F1 24 Tf 50 700 Td (${text}) Tj ET`;
      const resources = "/Resources << /Font << /F1 3 0 R >> >>";
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] ${resources} /Contents ${5 + index * 2} 0 R >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(`${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`, "latin1");
}
