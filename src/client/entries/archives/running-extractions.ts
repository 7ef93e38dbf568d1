import { request } from "../../api/http.ts";
import type { Schemas } from "../../api/generated.ts";
import { createStore } from "../../base/store.ts";
import { showError } from "../../ui/toast.tsx";

/** The extractions that this page began and that have not ended. */
export const runningExtractions = createStore<readonly Schemas["Extraction"][]>([]);

/** Cancels an extraction. Nothing of it remains. */
export function cancelExtraction({ id }: Pick<Schemas["Extraction"], "id">): void {
  void request("DELETE", `/api/files/extractions/${id}`).catch(showError);
}
