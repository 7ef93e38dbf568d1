// Uploading, for the rest of the pages. What does it is loaded when it is first needed: the upload tray has it loaded by then.
import { messageOf } from "../../api/http.ts";
import { announce } from "../../base/announce.ts";
import { loadScript } from "../../ui/lazy-part.ts";
import { toast } from "../../ui/toast.tsx";
import type { AddOptions } from "./engine/engine.ts";
import { pickFiles, pickFolder } from "./engine/pick.ts";
import { text } from "./text.ts";
import type { UploadSource } from "./engine/types.ts";

/** Puts files on their way, from anywhere in the pages. */
export const uploads = {
  /**
   * Uploads files into a folder; `path` is relative to it and ends in the name. Folders that are missing are made.
   * @returns the batch, to be given with more files of the same deed; undefined where nothing could begin, which is told
   */
  async add(
    items: readonly UploadSource[],
    folder: string,
    options: Omit<AddOptions, "folder"> = {},
  ): Promise<string | undefined> {
    if (items.length === 0) return options.batch;
    try {
      const { uploadEngine } = await loadScript(() => import("./page-engine.ts"));
      announce(text.announceStarted(items.length));
      return uploadEngine().add(items, { ...options, folder });
    } catch (error) {
      toast({ text: messageOf(error), tone: "danger" });
      return undefined;
    }
  },
  /** Lets the person choose files, and uploads them. */
  async pickFiles(folder: string, options: Omit<AddOptions, "folder"> = {}): Promise<void> {
    await uploads.add(await pickFiles(), folder, options);
  },
  /** Lets the person choose a folder, and uploads all that is in it under its name. */
  async pickFolder(folder: string, options: Omit<AddOptions, "folder"> = {}): Promise<void> {
    await uploads.add(await pickFolder(), folder, options);
  },
};
