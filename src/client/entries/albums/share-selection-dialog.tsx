import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Entry } from "../../api/types.ts";
import { formatDate } from "../../base/format.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { ErrorMessage } from "../../ui/error-message.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { ShareDialog } from "../sharing/share-dialog.tsx";
import { type Album, createAlbum, invalidateAlbums } from "./api.ts";
import { NoFilesDialog } from "./no-files-dialog.tsx";
import { text } from "./text.ts";

/** Shares several files together: makes an album of them, and then shares that album. */
export function ShareSelectionDialog({
  entries,
  onClose,
}: {
  readonly entries: readonly Entry[];
  readonly onClose: () => void;
}) {
  const files = entries.filter(({ type }) => type === "file");
  const [name, setName] = useState(() => text.defaultName({ day: formatDate(new Date().toISOString()) }));
  const [isMissing, setMissing] = useState(false);
  const [album, setAlbum] = useState<Album>();
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      createAlbum(
        name.trim(),
        files.map(({ id }) => id),
      ),
    onSuccess: async (made) => {
      setAlbum(made.album);
      if (made.failed > 0) toast({ text: text.someFailed({ n: made.failed }), tone: "danger" });
      await invalidateAlbums(queryClient);
    },
  });
  if (album !== undefined) return <ShareDialog entry={album} onClose={onClose} />;
  if (files.length === 0) return <NoFilesDialog title={text.shareTitle({ n: 0 })} onClose={onClose} />;
  const submit = () => {
    setMissing(name.trim() === "");
    if (name.trim() !== "") create.mutate();
  };
  return (
    <FormDialog
      onClose={onClose}
      title={text.shareTitle({ n: files.length })}
      description={files.length < entries.length ? `${text.shareHint} ${text.onlyFiles}` : text.shareHint}
      action={text.next}
      isBusy={create.isPending}
      onSubmit={submit}
    >
      <ErrorMessage error={create.error} />
      <TextField
        label={text.name}
        value={name}
        onChange={(value) => {
          setName(value);
          setMissing(false);
        }}
        autoComplete="off"
        error={isMissing ? text.nameMissing : undefined}
      />
    </FormDialog>
  );
}
