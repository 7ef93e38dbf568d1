/** The text of office documents (ECMA-376 and OpenDocument 1.3) and books (EPUB): ZIP files with XML in them. */
import { ContentFault } from "../processes/content-fault.ts";
import { findPackage, resolveEntry } from "./embedded-picture.ts";
import { addHtml, decodeHtml } from "./html-text.ts";
import { addSheets } from "./sheet-text.ts";
import type { TextSink } from "./text-sink.ts";
import { TEXT_BYTES_MAX } from "./types.ts";
import { readXml } from "./xml.ts";
import { withZip, type Zip } from "./zip.ts";

/** How the text of an XML format is marked. */
interface Markup {
  /** Characters count only inside of these elements. */
  readonly text: ReadonlySet<string>;
  /** Nothing inside of these counts. */
  readonly hidden: ReadonlySet<string>;
  /** What these elements stand for. */
  readonly breaks: Readonly<Record<string, string>>;
  /** Elements after whose end a line begins. */
  readonly paragraphs: ReadonlySet<string>;
}

/** WordprocessingML and DrawingML. Deleted text is in elements of another name. */
const OFFICE_OPEN_XML: Markup = {
  text: new Set(["t"]),
  // The same drawing for older programs.
  hidden: new Set(["Fallback"]),
  breaks: { tab: "\t", br: "\n", cr: "\n", noBreakHyphen: "-" },
  paragraphs: new Set(["p"]),
};

const OPEN_DOCUMENT: Markup = {
  text: new Set(["p", "h"]),
  hidden: new Set(["tracked-changes"]),
  breaks: { tab: "\t", "line-break": "\n", s: " " },
  paragraphs: new Set(["p", "h"]),
};

const SLIDES = [/^ppt\/slides\/slide\d+\.xml$/, /^ppt\/notesSlides\/notesSlide\d+\.xml$/];
const PRESENTATION_COMMENTS = /^ppt\/comments\/[^/]+\.xml$/;
const WORD_PARTS = /^word\/((header|footer)\d*|footnotes|endnotes|comments)\.xml$/;

/** Adds the text of an office document or a book. @throws ContentFault if it is damaged or none of these */
export async function readOffice(path: string, sink: TextSink): Promise<void> {
  await withZip(path, async (zip) => {
    if (zip.has("word/document.xml")) await addAll(zip, ["word/document.xml", ...zip.matching(WORD_PARTS)], sink);
    else if (zip.has("ppt/presentation.xml")) await addSlides(zip, sink);
    else if (zip.has("xl/workbook.xml")) await addSheets(zip, sink);
    else if (zip.has("META-INF/container.xml")) await addBook(zip, sink);
    else if (zip.has("content.xml")) {
      // The headers and footers of pages are among the styles.
      for (const name of ["content.xml", "styles.xml"]) await addXml(zip, name, OPEN_DOCUMENT, sink);
    } else throw new ContentFault("it is no office document that can be read");
  });
}

async function addAll(zip: Zip, names: readonly string[], sink: TextSink): Promise<void> {
  for (const name of names) await addXml(zip, name, OFFICE_OPEN_XML, sink);
}

/** Each slide is a page: the slide, then its notes. */
async function addSlides(zip: Zip, sink: TextSink): Promise<void> {
  const [slides = [], notes = []] = SLIDES.map((pattern) => zip.matching(pattern));
  for (const [index, name] of slides.entries()) {
    if (index > 0) sink.add("\f");
    await addXml(zip, name, OFFICE_OPEN_XML, sink);
  }
  if (notes.length > 0) sink.add("\f");
  await addAll(zip, notes, sink);
  for (const name of zip.matching(PRESENTATION_COMMENTS)) {
    await addXml(zip, name, { ...OFFICE_OPEN_XML, text: new Set(["text", "t"]) }, sink);
  }
}

async function addXml(zip: Zip, name: string, markup: Markup, sink: TextSink): Promise<void> {
  let hidden = 0;
  let inText = 0;
  await readXml(zip.stream(name), {
    shouldContinue: () => sink.isOpen,
    onOpen: (element) => {
      if (markup.hidden.has(element)) hidden++;
      if (markup.text.has(element)) inText++;
      const replacement = markup.breaks[element];
      if (hidden === 0 && replacement !== undefined) sink.add(replacement);
    },
    onText: (text) => {
      if (hidden === 0 && inText > 0) sink.add(text);
    },
    onClose: (element) => {
      if (markup.hidden.has(element)) hidden--;
      if (markup.text.has(element)) inText--;
      if (hidden === 0 && markup.paragraphs.has(element)) sink.add("\n");
    },
  });
}

/** The chapters of a book in their order (EPUB 3.3 §5.7 `spine`). */
async function addBook(zip: Zip, sink: TextSink): Promise<void> {
  const packagePath = await findPackage(zip);
  if (packagePath === undefined) throw new ContentFault("it is damaged: it names no contents");
  const items = new Map<string, string>();
  const order: string[] = [];
  await readXml(zip.stream(packagePath), {
    onOpen: (element, attributes) => {
      if (element === "item") items.set(attributes["id"] ?? "", attributes["href"] ?? "");
      if (element === "itemref") order.push(attributes["idref"] ?? "");
    },
  });
  for (const id of order) {
    const href = items.get(id);
    if (href === undefined || !sink.isOpen) continue;
    const bytes = await zip.read(resolveEntry(packagePath, href), TEXT_BYTES_MAX);
    if (bytes !== undefined) addHtml(decodeHtml(bytes, true), sink);
    sink.add("\f");
  }
}
