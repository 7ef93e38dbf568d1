import type { TextSink } from "./text-sink.ts";
import { TEXT_BYTES_MAX } from "./types.ts";
import { readXml } from "./xml.ts";
import type { Zip } from "./zip.ts";

const SHEETS = /^xl\/worksheets\/sheet\d+\.xml$/;
const COMMENTS = /^xl\/(threadedComments\/threadedComment|comments)\d*\.xml$/;

/** Adds a workbook (SpreadsheetML, ECMA-376 §18): the names of its sheets, their cells by rows, and the comments. */
export async function addSheets(zip: Zip, sink: TextSink): Promise<void> {
  await readXml(zip.stream("xl/workbook.xml"), {
    onOpen: (element, attributes) => {
      if (element === "sheet") sink.add(`${attributes["name"] ?? ""}\n`);
    },
  });
  const shared = await readSharedStrings(zip, sink);
  for (const name of zip.matching(SHEETS)) {
    sink.add("\f");
    await addSheet(zip, name, shared, sink);
  }
  for (const name of zip.matching(COMMENTS)) await addComments(zip, name, sink);
}

/** Texts that cells refer to by their number. */
async function readSharedStrings(zip: Zip, sink: TextSink): Promise<string[]> {
  const strings: string[] = [];
  let characters = 0;
  let isText = false;
  let phonetic = 0;
  let current = "";
  await readXml(zip.stream("xl/sharedStrings.xml"), {
    shouldContinue: () => sink.isOpen && characters <= TEXT_BYTES_MAX,
    onOpen: (element) => {
      if (element === "rPh") phonetic++;
      isText = element === "t";
    },
    onText: (text) => {
      if (isText && phonetic === 0) current += text;
    },
    onClose: (element) => {
      isText = false;
      if (element === "rPh") phonetic--;
      if (element !== "si") return;
      strings.push(current);
      characters += current.length;
      current = "";
    },
  });
  return strings;
}

/** A cell has a value (`v`), which is the number of a text if its type is `s`, or a text of its own (`t`). */
async function addSheet(zip: Zip, name: string, shared: readonly string[], sink: TextSink): Promise<void> {
  let type: string | undefined;
  let isValue = false;
  let value = "";
  await readXml(zip.stream(name), {
    shouldContinue: () => sink.isOpen,
    onOpen: (element, attributes) => {
      if (element === "c") type = attributes["t"];
      isValue = element === "v" || element === "t";
    },
    onText: (text) => {
      if (isValue) value += text;
    },
    onClose: (element) => {
      isValue = false;
      if (element === "c" && value !== "") {
        sink.add(`${type === "s" ? (shared[Number(value)] ?? "") : value}\t`);
        value = "";
      }
      if (element === "row") sink.add("\n");
    },
  });
}

async function addComments(zip: Zip, name: string, sink: TextSink): Promise<void> {
  let isText = false;
  await readXml(zip.stream(name), {
    shouldContinue: () => sink.isOpen,
    onOpen: (element) => {
      isText = element === "t" || element === "text";
    },
    onText: (text) => {
      if (isText) sink.add(text);
    },
    onClose: (element) => {
      isText = false;
      if (element === "text") sink.add("\n");
    },
  });
}
