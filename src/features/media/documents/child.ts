import { denyNetwork } from "../processes/sandbox.ts";
import { serveRequests, yieldToOthers } from "../processes/serve-requests.ts";
import { readText } from "./read-text.ts";

/** The process that reads the text of documents: `larder document-worker`, started only by the server. */
export function runDocumentChild(): void {
  // Where that is not possible it reads all the same: none of its libraries connects to anything. The server logs it.
  const unconfined = denyNetwork({ mayStartPrograms: false });
  yieldToOthers();
  serveRequests("document-worker", unconfined, readText);
}
