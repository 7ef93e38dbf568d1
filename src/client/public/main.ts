/** Enhances the pages of public links, which also work without script. Each part looks for its own elements. */
import { loadTexts } from "../translations/loaders.ts";
import { ignore } from "../base/ignore.ts";
import { startGallery } from "./gallery.ts";
import { startReading } from "./reading.ts";
import { startSelection } from "./selection.ts";
import { showLocalTimes } from "./times.ts";
import { startUnlock } from "./unlock.ts";

async function start(): Promise<void> {
  // Parts in English are better than a page without them.
  await loadTexts(document.documentElement.lang).catch(ignore);
  showLocalTimes(document);
  startUnlock(document);
  startSelection(document);
  startGallery(document);
  startReading(document);
  const dropBox = document.querySelector<HTMLFormElement>("form[data-drop-box]");
  if (dropBox === null) return;
  const { startDropBox } = await import("./drop-box/drop-box.ts");
  startDropBox(dropBox);
}

void start();
