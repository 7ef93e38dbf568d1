/** Downloads through the browser's own download manager, so that nothing is held in memory. */
import { apiAddress, href } from "../../api/http.ts";
import type { Entry } from "../../api/types.ts";
import { toast } from "../../ui/toast.tsx";
import { idsWithVideos } from "../live.ts";
import { text } from "../text.ts";
import { BATCH_MAX } from "./bulk.ts";
import { followLink } from "../../base/follow-link.ts";

/** The download address of a file, or of a folder as a ZIP. */
export function downloadAddress(entry: Entry): string {
  return entry.type === "folder"
    ? apiAddress(`/api/files/folders/${entry.id}/archive`)
    : apiAddress(`/api/files/${entry.id}/download`);
}

/** Downloads one file as it is, and one folder, several entries, or the two files of a Live Photo as a ZIP. */
export function downloadEntries(entries: readonly Entry[]): void {
  const [first] = entries;
  const ids = idsWithVideos(entries);
  if (first === undefined) return;
  if (ids.length === 1) return followLink(downloadAddress(first));
  if (ids.length > BATCH_MAX) {
    toast({ text: text.tooManyForZip({ n: ids.length }), tone: "danger" });
    return;
  }
  submitForm(ids);
}

/** A form, because a thousand ids are too long for an address. */
function submitForm(ids: readonly string[]): void {
  const form = document.createElement("form");
  form.method = "post";
  form.action = href("/api/files/archive");
  form.hidden = true;
  for (const id of ids) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = "fileIds";
    field.value = id;
    form.append(field);
  }
  document.body.append(form);
  form.submit();
  form.remove();
}
