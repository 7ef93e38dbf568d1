import { request } from "../../api/http.ts";

/** A file that is made in the page. */
export interface NewFile {
  readonly name: string;
  readonly folder: string;
  /** The received share that the folder is in. */
  readonly share?: string | undefined;
  readonly content: Blob;
  /** Whether the name may be changed if it is taken. */
  readonly mayRename: boolean;
}

/** Stores a new file. @throws ApiError | OfflineError */
export async function createFile(file: NewFile): Promise<{ readonly id: string; readonly name: string }> {
  const form = new FormData();
  form.set("folder", file.folder);
  if (file.share !== undefined) form.set("share", file.share);
  form.set("onConflict", file.mayRename ? "rename" : "error");
  form.set("file", file.content, file.name);
  return await request("POST", "/api/files/upload", { raw: form });
}
