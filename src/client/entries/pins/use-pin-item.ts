import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Pin as PinIcon } from "lucide-react";
import { loadScript } from "../../ui/lazy-part.ts";
import { showError } from "../../ui/toast.tsx";
import { text } from "../text.ts";
import { canPin, isPinned, pinsQuery } from "./api.ts";

type Pinnable = { readonly id: string; readonly name: string };

/** The menu item that pins a folder or album to the sidebar, or removes its pin; undefined for other entries. */
export function usePinItem(entry: Pinnable | undefined) {
  const queryClient = useQueryClient();
  const changePin = useChangePin();
  const isOffered = entry !== undefined && canPin(entry);
  // Loads the pins, if the sidebar has not yet.
  useQuery({ ...pinsQuery, enabled: isOffered });
  if (!isOffered) return undefined;
  const isRemoving = isPinned(queryClient, entry.id);
  const run = () => changePin(entry, isRemoving ? "remove" : "add");
  return { label: isRemoving ? text.unpin : text.pin, icon: PinIcon, run };
}

/** A function that pins a folder or album, or removes its pin. */
export function useChangePin() {
  const queryClient = useQueryClient();
  return (entry: Pinnable, change: "add" | "remove"): void => {
    loadScript(() => import("./actions.ts"))
      .then(({ addPin, removePin }) => (change === "remove" ? removePin : addPin)(queryClient, entry))
      .catch(showError);
  };
}
