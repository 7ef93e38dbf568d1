import { SaxesParser } from "saxes";
import { ContentFault } from "../processes/content-fault.ts";

/** The longest run of characters without a tag: the parser holds it in memory. */
const RUN_BYTES_MAX = 10 * 1024 * 1024;

/** Attributes by their local names. */
export type Attributes = Readonly<Record<string, string>>;

/** What to do with the parts of an XML document. Elements are given by their names without prefix. */
export interface XmlHandler {
  readonly onOpen?: (element: string, attributes: Attributes) => void;
  readonly onText?: (text: string) => void;
  readonly onClose?: (element: string) => void;
  /** Whether to read on. */
  readonly shouldContinue?: () => boolean;
}

/**
 * Reads XML up to its end or its first error. Document types are ignored, so there are no entities other than those of
 * XML itself.
 * @throws ContentFault if too much of it is without a tag; what `bytes` throws
 */
export async function readXml(bytes: AsyncIterable<Buffer>, handler: XmlHandler): Promise<void> {
  const parser = new SaxesParser({ position: false });
  let hasFailed = false;
  parser.on("error", () => {
    hasFailed = true;
  });
  let runBytes = 0;
  parser.on("opentag", ({ name, attributes }) => {
    runBytes = 0;
    const local = Object.entries(attributes).map(([key, value]) => [localName(key), value] as const);
    handler.onOpen?.(localName(name), Object.fromEntries(local));
  });
  const onText = (text: string) => handler.onText?.(text);
  parser.on("text", onText);
  parser.on("cdata", onText);
  parser.on("closetag", ({ name }) => {
    runBytes = 0;
    handler.onClose?.(localName(name));
  });
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    if (hasFailed || handler.shouldContinue?.() === false) return;
    runBytes += chunk.length;
    if (runBytes > RUN_BYTES_MAX) throw new ContentFault("a part of it is too long");
    parser.write(decoder.decode(chunk, { stream: true }));
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
