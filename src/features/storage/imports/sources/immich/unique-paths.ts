import { extensionOf } from "./asset.ts";

/** Gives photos of the same name in a month different paths, so that a live photo keeps its own video. */
export class UniquePaths {
  /** In lower case. */
  readonly #used = new Set<string>();

  /**
   * Reserves the paths of a photo and of its video, which differ only in the extension.
   * @param videoExtension with its dot; empty without a video
   */
  take(folder: string, fileName: string, videoExtension: string): [path: string, videoPath: string] {
    const extension = extensionOf(fileName);
    const stem = `${folder}/${fileName.slice(0, fileName.length - extension.length).replaceAll("/", "_")}`;
    for (let number = 1; ; number++) {
      const name = number === 1 ? stem : `${stem} (${number})`;
      const [path, videoPath] = [name + extension, name + videoExtension];
      const needed = (videoExtension === "" ? [path] : [path, videoPath]).map((used) => used.toLowerCase());
      if (needed.some((used) => this.#used.has(used))) continue;
      for (const used of needed) this.#used.add(used);
      return [path, videoPath];
    }
  }
}
