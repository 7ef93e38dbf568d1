import type { Transaction } from "../../../db/transaction.ts";

/** What files need of public links. Sharing implements it: the library does not know shares. */
export interface PublicLinks {
  /** Gives a file a link with a new token, which replaces an earlier one. Inside the caller's transaction. @returns the token */
  open(tx: Transaction, nodeId: number): string;
  /** Ends the link of a file. Inside the caller's transaction. */
  close(tx: Transaction, nodeId: number): void;
  /** Called after the transaction that ended a link, before the response: a restored database does not revive the link. */
  settleEnded(): Promise<void>;
  /** The token of a file's link; undefined where it has none. */
  findToken(nodeId: number): string | undefined;
}
