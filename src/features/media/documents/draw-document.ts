import { findEmbeddedPicture } from "./embedded-picture.ts";
import { readOffice } from "./office-text.ts";
import { withPdf } from "./pdf.ts";
import { TextSink } from "./text-sink.ts";
import { layOutPage, PAGE_TEXT_BYTES } from "./text-page.ts";

const TEXT_TIME_MS = 10_000;

/** A picture of a document: bytes of an image file, or pixels of the given size (RGBA). */
export interface DocumentPicture {
  readonly source: Buffer;
  readonly pixels?: { readonly width: number; readonly height: number };
}

/**
 * Draws the first page of a PDF. For an office document, takes the picture that it contains, or else sets its first lines as
 * plain text: its own layout is not known without an office program.
 * @throws ContentFault
 */
export async function drawDocument(
  path: string,
  format: "pdf" | "office",
  longestSide: number,
): Promise<DocumentPicture> {
  if (format === "pdf") return drawFirstPage(path, longestSide);
  const picture = await findEmbeddedPicture(path);
  return picture === undefined
    ? drawFirstPage(layOutPage(await readBeginning(path)), longestSide)
    : { source: picture };
}

async function drawFirstPage(pdf: string | Uint8Array, longestSide: number): Promise<DocumentPicture> {
  const { data, ...pixels } = await withPdf(pdf, (opened) => opened.render(0, longestSide));
  return { source: data, pixels };
}

async function readBeginning(path: string): Promise<string> {
  let text = "";
  // By the clock, as the limit of thumbnails.
  const untilMs = performance.now() + TEXT_TIME_MS;
  const sink = new TextSink(
    (part) => (text += part),
    () => performance.now() > untilMs,
    PAGE_TEXT_BYTES,
  );
  await readOffice(path, sink);
  sink.end();
  return text;
}
