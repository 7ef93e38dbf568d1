// The order of the upload tray. With hundreds of files, the ones at the top are all that people see.
import { ENDED_STATES, type Upload } from "../engine/types.ts";

/**
 * The uploads as the tray lists them: first those in progress or in need of a person, then queued ones, finished ones
 * last. Within each group, in the order of adding.
 * @param frozen ids whose order must not change, while a person points at them; other uploads follow
 */
export function trayOrder(uploads: readonly Upload[], frozen: readonly string[] = []): Upload[] {
  const remaining = new Map(uploads.map((upload) => [upload.id, upload]));
  const ordered: Upload[] = [];
  for (const id of frozen) {
    const upload = remaining.get(id);
    if (upload !== undefined) ordered.push(upload);
    remaining.delete(id);
  }
  const others = [...remaining.values()];
  for (const group of [0, 1, 2]) ordered.push(...others.filter(({ state }) => groupOf(state) === group));
  return ordered;
}

function groupOf(state: Upload["state"]): number {
  if (ENDED_STATES.has(state)) return 2;
  return state === "waiting" ? 1 : 0;
}
