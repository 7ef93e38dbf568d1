import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Pin as PinIcon } from "lucide-react";
import { useCanWrite } from "../../api/session.ts";
import { loadScript } from "../../ui/lazy-part.ts";
import { showError } from "../../ui/toast.tsx";
import { text } from "../text.ts";
import { canPin, isPinned, pinsQuery } from "./api.ts";

/** The menu item that pins a folder or album to the sidebar, or removes its pin; undefined for other entries. */
export function usePinItem(entry: { readonly id: string; readonly name: string } | undefined) {
  const queryClient = useQueryClient();
  const isOffered = useCanWrite() && entry !== undefined && canPin(entry);
  // Loads the pins, if the sidebar has not yet.
  useQuery({ ...pinsQuery, enabled: isOffered });
  if (!isOffered) return undefined;
  const isRemoving = isPinned(queryClient, entry.id);
  const run = () => {
    loadScript(() => import("./actions.ts"))
      .then(({ addPin, removePin }) => (isRemoving ? removePin : addPin)(queryClient, entry))
      .catch(showError);
  };
  return { label: isRemoving ? text.unpin : text.pin, icon: PinIcon, run };
}
