import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Album, addToAlbum, albumShapesQuery, invalidateAlbums } from "../../../entries/albums/api.ts";
import { text as albumsText } from "../../../entries/albums/text.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorMessage } from "../../../ui/error-message.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Image as ImageIcon } from "../../../ui/icons.ts";
import { Spinner } from "../../../ui/spinner.tsx";
import { uiText } from "../../../ui/text.ts";
import { toast } from "../../../ui/toast.tsx";
import { text } from "../text.ts";
import { monthsQuery } from "./api.ts";
import { type ChosenPhotos, PhotoPicker } from "./photo-picker.tsx";

const NOTHING: ChosenPhotos = new Map();

/** Adds photos and videos of the library to an album. Those that it contains already are marked. */
export function AddPhotosDialog({ album, onClose }: { readonly album: Album; readonly onClose: () => void }) {
  const months = useQuery(monthsQuery);
  const shapes = useQuery(albumShapesQuery(album.id));
  const [chosen, setChosen] = useState(NOTHING);
  const add = useAdding(album, onClose);
  const error = months.error ?? shapes.error;
  return (
    <Dialog
      open
      size="large"
      onClose={onClose}
      isPersistent={chosen.size > 0}
      title={text.addPhotosTitle({ album: album.name })}
      footer={
        <>
          <p aria-live="polite" className="me-auto self-center text-sm text-muted">
            {text.chosen({ n: chosen.size })}
          </p>
          <Button onClick={onClose}>{uiText.cancel}</Button>
          <Button
            variant="primary"
            busy={add.isPending}
            disabled={chosen.size === 0}
            onClick={() => add.mutate(inOrder(chosen))}
          >
            {albumsText.add}
          </Button>
        </>
      }
    >
      <ErrorMessage error={add.error} />
      {/* The dialog has its size before the photos are there. */}
      <div className="h-[64dvh]">
        {months.data === undefined || shapes.data === undefined ? (
          error === null ? (
            <div className="flex h-full items-center justify-center text-muted">
              <Spinner size={28} label={text.loading} />
            </div>
          ) : (
            <ErrorState error={error} onRetry={() => void Promise.all([months.refetch(), shapes.refetch()])} />
          )
        ) : months.data.length === 0 ? (
          <EmptyState icon={ImageIcon} title={text.noPhotos}>
            {text.noPhotosHint}
          </EmptyState>
        ) : (
          <PhotoPicker
            months={months.data}
            contained={new Set(shapes.data.fileIds)}
            chosen={chosen}
            onChange={setChosen}
          />
        )}
      </div>
    </Dialog>
  );
}

/** The ids of photos, in the order in which they were taken. */
function inOrder(chosen: ChosenPhotos): string[] {
  return [...chosen.values()].toSorted((a, b) => (a.takenAt < b.takenAt ? -1 : 1)).map(({ id }) => id);
}

/** Adds the photos, and shows the result. */
function useAdding(album: Album, onClose: () => void) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (ids: readonly string[]) => addToAlbum(album.id, ids),
    onSuccess: async ({ added, failed }) => {
      onClose();
      toast({ text: albumsText.added({ n: added, album: album.name }) });
      if (failed > 0) toast({ text: albumsText.someFailed({ n: failed }), tone: "danger" });
      await invalidateAlbums(queryClient);
    },
  });
}
