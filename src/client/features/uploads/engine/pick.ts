// Opens the browser's file and folder pickers.
import type { UploadSource } from "./types.ts";

declare global {
  interface Window {
    /** Chromium only (File System Access). Its handles can be read again after a reload. */
    showOpenFilePicker?(options: { multiple: boolean }): Promise<FileSystemFileHandle[]>;
    /** Chromium only. Its handles also show empty folders. */
    showDirectoryPicker?(): Promise<FileSystemDirectoryHandle>;
  }
}

/** Lets the person choose files; empty if they cancel. */
export async function pickFiles(): Promise<UploadSource[]> {
  if (window.showOpenFilePicker === undefined)
    return (await chooseByInput(false)).map((file) => ({ file, path: file.name }));
  try {
    const handles = await window.showOpenFilePicker({ multiple: true });
    return await Promise.all(
      handles.map(async (handle) => {
        const file = await handle.getFile();
        return { file, path: file.name, handle };
      }),
    );
  } catch (error) {
    if (isCanceled(error)) return [];
    throw error;
  }
}

/** Whether {@link pickDirectory} works in this browser. */
export function canPickDirectory(): boolean {
  return window.showDirectoryPicker !== undefined;
}

/** Lets the person choose a folder that can be read with its empty folders; undefined if they cancel. */
export async function pickDirectory(): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    return await window.showDirectoryPicker?.();
  } catch (error) {
    if (isCanceled(error)) return undefined;
    throw error;
  }
}

function isCanceled(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Lets the person choose a folder, of which browsers list only the files; their paths begin with its name. */
export async function pickFolder(): Promise<UploadSource[]> {
  const files = await chooseByInput(true);
  return files.map((file) => ({ file, path: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath }));
}

/** Lets the person choose files, without handles to read them again. */
export function chooseByInput(isFolder: boolean): Promise<File[]> {
  const { promise, resolve } = Promise.withResolvers<File[]>();
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.webkitdirectory = isFolder;
  input.hidden = true;
  input.addEventListener("change", () => resolve([...(input.files ?? [])]));
  input.addEventListener("cancel", () => resolve([]));
  // Some browsers drop a picker whose input isn't in the document.
  document.body.append(input);
  input.click();
  return promise.finally(() => input.remove());
}
