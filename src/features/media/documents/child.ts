import { denyNetwork } from "../processes/sandbox.ts";
import { serveRequests, yieldToOthers } from "../processes/serve-requests.ts";
import { readText } from "./read-text.ts";

/** The process that reads the text of documents: `larder document-worker`, started only by the server. */
export function runDocumentChild(): void {
  // PDFium and the readers of office files make no connections. Without the filter they are still read.
  denyNetwork({ mayStartPrograms: false });
  yieldToOthers();
  serveRequests("document-worker", readText);
}
