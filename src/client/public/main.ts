/** Enhances the pages of public links, which also work without script. Each part looks for its own elements. */
import { startGallery } from "./gallery.ts";
import { startReading } from "./reading.ts";
import { startSelection } from "./selection.ts";
import { showLocalTimes } from "./times.ts";
import { startUnlock } from "./unlock.ts";

showLocalTimes(document);
startUnlock(document);
startSelection(document);
startGallery(document);
startReading(document);

const dropBox = document.querySelector<HTMLFormElement>("form[data-drop-box]");
if (dropBox !== null) void import("./drop-box/drop-box.ts").then(({ startDropBox }) => startDropBox(dropBox));
