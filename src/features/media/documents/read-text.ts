import { ContentFault } from "../processes/content-fault.ts";
import { readPlainText, readStart } from "./plain-text.ts";
import { TextSink } from "./text-sink.ts";
import { type DocumentReply, type DocumentRequest, documentFormat, TEXT_BYTES_MAX } from "./types.ts";

/** After this processor time the text is cut off; 5 s before the process is ended. */
const TIME_MS = 15_000;
/** A page of nothing but tags takes 1 s per MB. */
const HTML_BYTES_MAX = 5 * 1024 * 1024;
/** The attachments of a message are decoded with it. */
const MAIL_BYTES_MAX = 20 * 1024 * 1024;

/**
 * Reads the text of a file. Runs only in the child process, because the files are untrusted.
 * @param sendPart receives the text
 * @throws faults of the machine, which are no property of the file
 */
export async function readText(request: DocumentRequest, sendPart: (part: string) => void): Promise<DocumentReply> {
  const sink = new TextSink(sendPart, afterProcessorTime(TIME_MS));
  try {
    await readInto(sink, request);
    sink.end();
    return { kind: "text", isTruncated: sink.isTruncated, isRepeatable: !sink.isOutOfTime };
  } catch (error) {
    if (!(error instanceof ContentFault)) throw error;
    return { kind: "none", reason: error.message };
  }
}

/** Each format's library is loaded when it is first needed. */
async function readInto(sink: TextSink, { path, mediaType }: DocumentRequest): Promise<void> {
  switch (documentFormat(mediaType)) {
    case "pdf":
      return readPdf(path, sink);
    case "office": {
      const { readOffice } = await import("./office-text.ts");
      return readOffice(path, sink);
    }
    case "html": {
      const { addHtml, decodeHtml } = await import("./html-text.ts");
      const { bytes, isWhole } = readStart(path, HTML_BYTES_MAX);
      addHtml(decodeHtml(bytes, isWhole), sink);
      return isWhole ? undefined : sink.truncate();
    }
    case "mail": {
      const { addMail } = await import("./mail-text.ts");
      const { bytes, isWhole } = readStart(path, MAIL_BYTES_MAX);
      await addMail(bytes, sink);
      return isWhole ? undefined : sink.truncate();
    }
    case "text":
      return readPlainText(path, sink);
    default:
      throw new ContentFault(`no text is read from ${mediaType}`);
  }
}

async function readPdf(path: string, sink: TextSink): Promise<void> {
  const { withPdf } = await import("./pdf.ts");
  await withPdf(path, (pdf) => {
    for (let index = 0; index < pdf.pageCount && sink.isOpen; index++) {
      if (index > 0) sink.add("\f");
      sink.add(pdf.readText(index, TEXT_BYTES_MAX));
    }
  });
}

/** Whether this process has used so much processor time from now on: on a busy machine, the clock shows mostly waiting. */
function afterProcessorTime(timeMs: number): () => boolean {
  const untilMs = performance.now() + timeMs;
  const usedMs = processorMs();
  // The clock is quick to read, and is never behind the processor time of one thread.
  return () => performance.now() > untilMs && processorMs() - usedMs > timeMs;
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
