/** Enhances the pages of public links, which also work without script. Each part looks for its own elements. */
import { loadPageTexts } from "../base/page-texts.ts";
import { startGallery } from "./gallery.ts";
import { startReading } from "./reading.ts";
import { startSelection } from "./selection.ts";
import { showLocalTimes } from "./times.ts";
import { startUnlock } from "./unlock.ts";

async function start(): Promise<void> {
  await loadPageTexts();
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
