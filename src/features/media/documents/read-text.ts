import { ContentFault } from "../processes/content-fault.ts";
import { withPdf } from "./pdf.ts";
import { readPlainText } from "./plain-text.ts";
import { TextSink } from "./text-sink.ts";
import { type DocumentReply, type DocumentRequest, documentFormat, TEXT_BYTES_MAX } from "./types.ts";

/** After this time the text is cut off; 5 s before the process is ended. */
const TIME_MS = 15_000;

/**
 * Reads the text of a file. Runs only in the child process, because the files are untrusted.
 * @param sendPart receives the text
 * @throws faults of the machine, which are no property of the file
 */
export async function readText(request: DocumentRequest, sendPart: (part: string) => void): Promise<DocumentReply> {
  const sink = new TextSink(sendPart, TIME_MS);
  try {
    await readInto(sink, request);
    sink.end();
    return { kind: "text", isTruncated: sink.isTruncated };
  } catch (error) {
    if (!(error instanceof ContentFault)) throw error;
    return { kind: "none", reason: error.message };
  }
}

async function readInto(sink: TextSink, { path, mediaType }: DocumentRequest): Promise<void> {
  const format = documentFormat(mediaType);
  if (format === "pdf") await readPdf(path, sink);
  else if (format === "text") readPlainText(path, sink);
  else throw new ContentFault(`no text is read from ${mediaType}`);
}

async function readPdf(path: string, sink: TextSink): Promise<void> {
  await withPdf(path, (pdf) => {
    for (let index = 0; index < pdf.pageCount && sink.isOpen; index++) {
      if (index > 0) sink.add("\f");
      sink.add(pdf.readText(index, TEXT_BYTES_MAX));
    }
  });
}
