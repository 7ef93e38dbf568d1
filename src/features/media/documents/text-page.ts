import { ContentFault } from "../processes/content-fault.ts";

/** More text than fits on a page. */
export const PAGE_TEXT_BYTES = 16 * 1024;

// A4 in points, set in Helvetica, which PDFium contains: no font of the machine is needed.
const PAGE = { width: 595, height: 842, margin: 48 };
const FONT_POINTS = 14;
const LINE_POINTS = 19;
const LINES_MAX = Math.floor((PAGE.height - 2 * PAGE.margin) / LINE_POINTS);
/** Letters of Helvetica in a text are 0.45 times as wide as high. */
const LINE_CHARACTERS = Math.floor((PAGE.width - 2 * PAGE.margin) / (FONT_POINTS * 0.45));
/** Helvetica has the letters of Western Europe. A page with more others than this share would be mostly gaps. */
const MISSING_SHARE_MAX = 0.05;

/** Characters of Windows-1252 that Unicode has elsewhere, at the bytes from 0x80 on. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/**
 * A PDF of one page with the first lines of a text.
 * @throws ContentFault if there is no text, or its letters are not in the font
 */
export function layOutPage(text: string): Uint8Array {
  const lines = text
    .replaceAll("\t", "    ")
    .split(/[\n\f]+/)
    .flatMap(wrap);
  const first = lines.slice(0, LINES_MAX);
  const characters = first.join("");
  const missing = [...characters].filter((character) => byteOf(character) === undefined).length;
  if (characters.trim() === "") throw new ContentFault("it has neither a preview picture nor text");
  if (missing > characters.length * MISSING_SHARE_MAX) {
    throw new ContentFault("it has no preview picture, and letters that no built-in font has");
  }
  const shown = first.map((line) => `<${encode(line)}> Tj T*`).join("\n");
  const start = `${PAGE.margin} ${PAGE.height - PAGE.margin - FONT_POINTS} Td`;
  return makePdf(`BT /F1 ${FONT_POINTS} Tf ${LINE_POINTS} TL 0.2 g ${start}\n${shown}\nET`);
}

function wrap(line: string): string[] {
  const wrapped: string[] = [];
  let rest = line.trimEnd();
  while (rest.length > LINE_CHARACTERS && wrapped.length < LINES_MAX) {
    const space = rest.lastIndexOf(" ", LINE_CHARACTERS);
    const end = space > LINE_CHARACTERS / 2 ? space : LINE_CHARACTERS;
    wrapped.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? wrapped : [...wrapped, rest.slice(0, LINE_CHARACTERS)];
}

/** The byte of a character in Windows-1252, which PDF calls WinAnsiEncoding; undefined if it has none. */
function byteOf(character: string): number | undefined {
  const code = character.codePointAt(0) ?? 0;
  if ((code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff)) return code;
  const index = WINDOWS_1252.indexOf(character);
  return index < 0 ? undefined : 0x80 + index;
}

/** A text as the hexadecimal digits of a PDF string: no character in it can end the string. */
function encode(line: string): string {
  return Buffer.from([...line].map((character) => byteOf(character) ?? 0x20)).toString("hex");
}

function makePdf(content: string): Uint8Array {
  const resources =
    "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >>";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE.width} ${PAGE.height}] /Resources ${resources} /Contents 4 0 R >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ];
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const count = objects.length + 1;
  const table = `xref\n0 ${count}\n0000000000 65535 f \n${offsets.join("")}`;
  return Buffer.from(`${file}${table}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`);
}
