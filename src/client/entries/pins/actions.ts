/** Adds, moves and removes pins. */
import type { QueryClient } from "@tanstack/react-query";
import type { Schemas } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { announce } from "../../base/announce.ts";
import { showError, toast } from "../../ui/toast.tsx";
import { type Pin, pinsQuery } from "./api.ts";
import { text } from "./text.ts";

type Named = Pick<Pin, "id" | "name">;

/** Pins a folder or album at the end of the list. */
export async function addPin(queryClient: QueryClient, { id, name }: Named): Promise<void> {
  if (await change(queryClient, "PUT", id)) {
    toast({
      text: text.pinned({ name }),
      action: { label: text.undo, run: () => void change(queryClient, "DELETE", id) },
    });
  }
}

/** Removes a pin, and offers to put it back at its place. */
export async function removePin(queryClient: QueryClient, { id, name }: Named): Promise<void> {
  const next = following(queryClient, id);
  if (await change(queryClient, "DELETE", id)) {
    toast({
      text: text.unpinned({ name }),
      action: { label: text.undo, run: () => void change(queryClient, "PUT", id, next) },
    });
  }
}

/** Moves a pin before another one, or to the end. */
export async function movePin(
  queryClient: QueryClient,
  { id, name }: Named,
  before: string | undefined,
): Promise<void> {
  if (await change(queryClient, "PUT", id, before)) announce(text.moved({ name }));
}

/** The pin after one. */
function following(queryClient: QueryClient, id: string): string | undefined {
  const pins = queryClient.getQueryData(pinsQuery.queryKey) ?? [];
  return pins[pins.findIndex((pin) => pin.id === id) + 1]?.id;
}

async function change(
  queryClient: QueryClient,
  method: "PUT" | "DELETE",
  id: string,
  before?: string,
): Promise<boolean> {
  try {
    const body = before === undefined ? undefined : { before };
    const { pins } = await request<Schemas["Pins"]>(method, `/api/pins/${id}`, body && { body });
    queryClient.setQueryData(pinsQuery.queryKey, pins);
    return true;
  } catch (error) {
    showError(error);
    await queryClient.invalidateQueries(pinsQuery);
    return false;
  }
}
