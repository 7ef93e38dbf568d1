import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { request } from "../../api/http.ts";
import { announce } from "../../base/announce.ts";
import { addToAlbum, type Album, invalidateAlbums } from "../../entries/albums/api.ts";
import { showError, toast } from "../../ui/toast.tsx";
import type { AlbumDraft } from "./edit-album-dialog.tsx";
import { text } from "./text.ts";

/** Changes of an album. Each shows its result or error. */
export function useAlbumChanges(album: Album) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const path = `/api/albums/${album.id}` as const;
  const run = async (change: () => Promise<unknown>): Promise<boolean> => {
    try {
      await change();
      return true;
    } catch (error) {
      showError(error);
      return false;
    } finally {
      await invalidateAlbums(queryClient);
    }
  };
  return {
    /** @throws ApiError, OfflineError */
    edit: async (draft: AlbumDraft) => {
      await request("PATCH", path, { body: draft });
      await invalidateAlbums(queryClient);
    },
    setCover: async (coverFileId: string) => {
      if (await run(() => request("PATCH", path, { body: { coverFileId } }))) toast({ text: text.coverSet });
    },
    /** @param before the file that they are put before; null for the end */
    move: async (fileIds: readonly string[], before: string | null) => {
      if (await run(() => request("POST", `${path}/items/move`, { body: { fileIds, before } }))) announce(text.moved);
    },
    takeOut: async (fileIds: readonly string[]) => {
      if (!(await run(() => request("POST", `${path}/items/remove`, { body: { fileIds } })))) return;
      toast({
        text: text.takenOut(fileIds.length),
        action: { label: text.undo, run: () => void run(() => addToAlbum(album.id, fileIds)) },
      });
    },
    remove: async () => {
      if (!(await run(() => request("DELETE", path)))) return;
      toast({ text: text.removed });
      await navigate({ to: "/albums" });
    },
  };
}
