import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { messageOf } from "../../api/http.ts";
import type { Entry } from "../../api/types.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { ErrorMessage } from "../../ui/error-message.tsx";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { type Album, addToAlbum, albumsQuery, createAlbum, invalidateAlbums } from "./api.ts";
import { NoFilesDialog } from "./no-files-dialog.tsx";
import { text } from "./text.ts";

/** The choice of a new album. */
const NEW = "";

/** Adds files to an album that exists, or to a new one. */
export function AddToAlbumDialog({
  entries,
  onClose,
}: {
  readonly entries: readonly Entry[];
  readonly onClose: () => void;
}) {
  const files = entries.filter(({ type }) => type === "file");
  const albums = useQuery(albumsQuery({ sort: "modifiedAt", order: "desc" }));
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState("");
  const [isMissing, setMissing] = useState(false);
  const known = albums.data ?? [];
  const albumId = chosen ?? known[0]?.id ?? NEW;
  const add = useAdding(files, onClose);
  if (files.length === 0) return <NoFilesDialog title={text.addTitle({ n: 0 })} onClose={onClose} />;
  const submit = () => {
    const isNameless = albumId === NEW && name.trim() === "";
    setMissing(isNameless);
    if (!isNameless) add.mutate({ album: known.find(({ id }) => id === albumId), name: name.trim() });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={text.addTitle({ n: files.length })}
      {...(files.length < entries.length && { description: text.onlyFiles })}
      action={text.add}
      isBusy={add.isPending}
      isDisabled={albums.isPending}
      onSubmit={submit}
    >
      <ErrorMessage error={add.error} />
      {known.length > 0 && (
        <Select
          label={text.choose}
          value={albumId}
          onChange={setChosen}
          options={[
            { value: NEW, label: text.newAlbum },
            ...known.map((album) => ({ value: album.id, label: album.name })),
          ]}
        />
      )}
      {albumId === NEW && (
        <TextField
          label={known.length > 0 ? text.name : text.newAlbum}
          value={name}
          onChange={(value) => {
            setName(value);
            setMissing(false);
          }}
          autoComplete="off"
          error={isMissing ? text.nameMissing : albums.isError ? messageOf(albums.error) : undefined}
        />
      )}
    </FormDialog>
  );
}

/** Adds the files, and shows the result. */
function useAdding(files: readonly Entry[], onClose: () => void) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ album, name }: { readonly album: Album | undefined; readonly name: string }) =>
      putInto(
        album,
        name,
        files.map(({ id }) => id),
      ),
    onSuccess: async ({ album, added, failed }) => {
      onClose();
      toast({
        text:
          added === 0 && failed === 0
            ? text.alreadyThere({ album: album.name })
            : text.added({ n: added, album: album.name }),
        action: {
          label: text.open,
          run: () => void navigate({ to: "/albums/$albumId", params: { albumId: album.id } }),
        },
      });
      if (failed > 0) toast({ text: text.someFailed({ n: failed }), tone: "danger" });
      await invalidateAlbums(queryClient);
    },
  });
}

async function putInto(album: Album | undefined, name: string, fileIds: readonly string[]) {
  if (album !== undefined) return { album, ...(await addToAlbum(album.id, fileIds)) };
  const made = await createAlbum(name, fileIds);
  return { ...made, added: fileIds.length - made.failed };
}
