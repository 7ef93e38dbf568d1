// Uploading for all pages. The engine is loaded on first use; usually the upload tray has loaded it by then.
import { startUse } from "../../base/when-used.ts";
import { announce } from "../../base/announce.ts";
import { loadScript } from "../../ui/lazy-part.ts";
import type { AddOptions } from "./engine/engine.ts";
import { canPickDirectory, pickDirectory, pickFiles, pickFolder } from "./engine/pick.ts";
import { text } from "./text.ts";
import type { UploadSource } from "./engine/types.ts";
import { showError, toast } from "../../ui/toast.tsx";
import { walkDirectory } from "./engine/walk.ts";

/** Adds uploads from anywhere in the pages. */
export const uploads = {
  /**
   * Uploads files into a folder. `path` is relative to it, with the file name; missing folders are created.
   * @returns the batch, to add more files to it; undefined if the upload could not start, after an error was shown
   */
  async add(
    items: readonly UploadSource[],
    folder: string,
    options: Omit<AddOptions, "folder"> = {},
  ): Promise<string | undefined> {
    if (items.length === 0) return options.batch;
    try {
      // Shows the tray, which may not be loaded yet.
      startUse();
      const { uploadEngine } = await loadScript(() => import("./page-engine.ts"));
      announce(text.announceStarted({ n: items.length }));
      return uploadEngine().add(items, { ...options, folder });
    } catch (error) {
      showError(error);
      return undefined;
    }
  },
  /** Lets the person choose files, and uploads them. */
  async pickFiles(folder: string, options: Omit<AddOptions, "folder"> = {}): Promise<void> {
    await uploads.add(await pickFiles(), folder, options);
  },
  /** Lets the person choose a folder, and uploads its content under its name. */
  async pickFolder(folder: string, { share }: Pick<AddOptions, "share"> = {}): Promise<void> {
    if (!canPickDirectory()) {
      const files = await pickFolder();
      if (files.length > 0) toast({ text: text.emptyFoldersLeftOut });
      await uploads.add(files, folder, { share });
      return;
    }
    const directory = await pickDirectory();
    if (directory === undefined) return;
    const { uploadWalk } = await loadScript(() => import("./upload-walk.ts"));
    await uploadWalk((onUnreadable) => walkDirectory(directory, onUnreadable), folder, share, uploads.add);
  },
};
