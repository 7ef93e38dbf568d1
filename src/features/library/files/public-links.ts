import type { Transaction } from "../../../db/transaction.ts";

/** Public links of files. Implemented by sharing, because the library does not depend on it. */
export interface PublicLinks {
  /** Creates or replaces the link of a file, inside the caller's transaction. @returns its new token */
  open(tx: Transaction, nodeId: number): string;
  /** Deletes the link of a file, inside the caller's transaction. */
  close(tx: Transaction, nodeId: number): void;
  /** Called after that transaction and before the response, so that a restored database does not reopen the link. */
  settleEnded(): Promise<void>;
  /** The token of a file's link; undefined if it has none. */
  findToken(nodeId: number): string | undefined;
}
