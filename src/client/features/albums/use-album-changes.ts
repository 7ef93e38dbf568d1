import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { request } from "../../api/http.ts";
import { announce } from "../../base/announce.ts";
import {
  addToAlbum,
  type Album,
  albumShapesQuery,
  type AlbumShapes,
  invalidateAlbums,
} from "../../entries/albums/api.ts";
import { BATCH_MAX } from "../../entries/actions/bulk.ts";
import { splitIntoBatches } from "../../entries/collection/page-window.ts";
import { showError, toast } from "../../ui/toast.tsx";
import type { AlbumDraft } from "./edit-album-dialog.tsx";
import { orderAfterMove } from "./order.ts";
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
    /**
     * Shows the new order at once.
     * @param fileIds in the order of the album
     * @param before the file that they are put before; null for the end
     */
    move: async (fileIds: readonly string[], before: string | null) => {
      const { queryKey } = albumShapesQuery(album.id);
      await queryClient.cancelQueries({ queryKey });
      queryClient.setQueryData(queryKey, (shapes) => shapes && moveShapes(shapes, new Set(fileIds), before));
      const isMoved = await run(async () => {
        for (const batch of splitIntoBatches(fileIds, BATCH_MAX)) {
          // One after the other: each is put before the same file, so the order stays.
          // oxlint-disable-next-line no-await-in-loop -- see above
          await request("POST", `${path}/items/move`, { body: { fileIds: batch, before } });
        }
      });
      if (isMoved) announce(text.moved);
    },
    takeOut: async (fileIds: readonly string[]) => {
      const isRemoved = await run(async () => {
        for (const batch of splitIntoBatches(fileIds, BATCH_MAX)) {
          // oxlint-disable-next-line no-await-in-loop -- one request at a time changes the album
          await request("POST", `${path}/items/remove`, { body: { fileIds: batch } });
        }
      });
      if (!isRemoved) return;
      toast({
        text: text.takenOut({ n: fileIds.length }),
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

function moveShapes({ fileIds, aspects }: AlbumShapes, moved: ReadonlySet<string>, before: string | null): AlbumShapes {
  const aspectOf = new Map(fileIds.map((id, index) => [id, aspects[index] ?? 0]));
  const ordered = orderAfterMove(fileIds, moved, before);
  return { fileIds: ordered, aspects: ordered.map((id) => aspectOf.get(id) ?? 0) };
}
