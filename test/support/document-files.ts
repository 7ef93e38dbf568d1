/** Small documents of each format, for tests. */
import { crc32, deflateRawSync } from "node:zlib";

/** The entries of a ZIP file. */
export type ZipEntries = Readonly<Record<string, string | Uint8Array>>;

/** A ZIP file with these entries. */
export function makeZip(entries: ZipEntries, isCompressed = true): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(content);
    const packed = isCompressed ? deflateRawSync(bytes) : bytes;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(isCompressed ? 8 : 0, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const file = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), common, rest, Buffer.from(name)]));
    files.push(file);
    offset += file.length;
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, ...directory, end]);
}

const OFFICE = "application/vnd.openxmlformats-officedocument";
const OPEN_DOCUMENT = "application/vnd.oasis.opendocument";

/** A small document of each format that is a ZIP file: its media type, its entries, and the text in it. */
export const OFFICE_DOCUMENTS: readonly (readonly [
  name: string,
  mediaType: string,
  entries: ZipEntries,
  text: string,
])[] = [
  [
    "docx",
    `${OFFICE}.wordprocessingml.document`,
    {
      "word/document.xml":
        "<w:document><w:body><w:p><w:r><w:t>Grüße &amp; mehr</w:t><w:tab/><w:delText>gone</w:delText><w:t>end</w:t></w:r></w:p></w:body></w:document>",
      "word/footnotes.xml": "<w:footnotes><w:p><w:t>a note</w:t></w:p></w:footnotes>",
      "word/header1.xml": "<w:hdr><w:p><w:t>a header</w:t></w:p></w:hdr>",
      "word/comments.xml": "<w:comments><w:p><w:t>a comment</w:t></w:p></w:comments>",
      "word/styles.xml": "<w:styles><w:t>no text</w:t></w:styles>",
    },
    "Grüße & mehr\tend\na note\na comment\na header\n",
  ],
  [
    "pptx",
    `${OFFICE}.presentationml.presentation`,
    {
      "ppt/presentation.xml": "<p:presentation/>",
      "ppt/slides/slide10.xml": "<p:sld><a:p><a:r><a:t>ten</a:t></a:r></a:p></p:sld>",
      "ppt/slides/slide2.xml": "<p:sld><a:p><a:r><a:t>two</a:t></a:r></a:p></p:sld>",
      "ppt/notesSlides/notesSlide1.xml": "<p:notes><a:p><a:r><a:t>to say</a:t></a:r></a:p></p:notes>",
    },
    "two\n\ften\n\fto say\n",
  ],
  [
    "xlsx",
    `${OFFICE}.spreadsheetml.sheet`,
    {
      "xl/workbook.xml": '<workbook><sheets><sheet name="Costs" r:id="rId1"/></sheets></workbook>',
      "xl/sharedStrings.xml":
        "<sst><si><t>zero</t></si><si><r><t>rent</t></r><r><t>al</t></r><rPh><t>ph</t></rPh></si></sst>",
      "xl/worksheets/sheet1.xml":
        '<worksheet><sheetData><row><c t="s"><v>1</v></c><c><f>1+1</f><v>2.5</v></c></row><row><c t="inlineStr"><is><t>inline</t></is></c></row></sheetData></worksheet>',
      "xl/comments1.xml": "<comments><comment><text><r><t>why?</t></r></text></comment></comments>",
    },
    "Costs\n\frental\t2.5\t\ninline\t\nwhy?\n",
  ],
  [
    "odt",
    `${OPEN_DOCUMENT}.text`,
    {
      mimetype: `${OPEN_DOCUMENT}.text`,
      "content.xml":
        "<office:document-content><office:body><text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h>Title</text:h><text:p>a<text:s/>b<text:line-break/><text:span>c</text:span><office:annotation><text:p>note</text:p></office:annotation></text:p></office:body></office:document-content>",
      "styles.xml": "<x><style:header><text:p>page header</text:p></style:header></x>",
    },
    "Title\na b\ncnote\n\npage header\n",
  ],
  [
    "epub",
    "application/epub+zip",
    {
      mimetype: "application/epub+zip",
      "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
      "OPS/book.opf":
        '<package><manifest><item id="two" href="two%20.xhtml"/><item id="one" href="text/one.xhtml"/></manifest><spine><itemref idref="one"/><itemref idref="two"/></spine></package>',
      "OPS/text/one.xhtml": "<html><head><title>Book</title></head><body><p>Chapter one</p></body></html>",
      "OPS/two .xhtml": "<html><body><p>Chapter two</p></body></html>",
    },
    "\nBook\n\nChapter one\n\f\nChapter two\n\f",
  ],
];
