/** The thread of one {@link NameIndex}, for as long as its account is searched. */
import type { SortField } from "../model/types.ts";
import { openReadOnly } from "../../db/open.ts";
import { NameIndex, type NamePage, type NameSearch } from "./name-index.ts";

/** A sort to prepare, or a search. The first request sets the database and the account. */
export type NameRequest =
  | { readonly path: string; readonly accountId: number; readonly sort: SortField }
  | { readonly id: number; readonly search: NameSearch };

/** `sorts` are those that searches can have from now on. A sort that is not prepared, or a search without `page`, needs a new index. */
export type NameReply =
  | { readonly sorts: readonly SortField[]; readonly isPrepared: boolean }
  | { readonly id: number; readonly page?: NamePage | undefined }
  | { readonly error: string };

declare const self: Worker;

let index: NameIndex | undefined;

self.onmessage = (event: MessageEvent<NameRequest>) => {
  try {
    self.postMessage(reply(event.data) satisfies NameReply);
  } catch (error) {
    self.postMessage({ error: String(error) } satisfies NameReply);
  }
};

function reply(request: NameRequest): NameReply {
  if ("search" in request) return { id: request.id, page: index?.find(request.search) };
  const { path, accountId, sort } = request;
  index ??= build(path, accountId);
  const isPrepared = index.rank(sort);
  // Reading the rows leaves garbage of several times the size of the index.
  if (isPrepared) Bun.gc(true);
  return { sorts: index.sorts, isPrepared };
}

function build(path: string, accountId: number): NameIndex {
  const { sqlite } = openReadOnly(path);
  sqlite.run("PRAGMA cache_size=-2048");
  const built = new NameIndex(sqlite, accountId);
  built.build();
  return built;
}
