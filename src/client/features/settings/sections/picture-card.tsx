import { useMutation } from "@tanstack/react-query";
import { Suspense, useRef, useState } from "react";
import { request } from "../../../api/http.ts";
import { loadSession } from "../../../api/session.ts";
import type { User } from "../../../api/types.ts";
import { Avatar } from "../../../ui/avatar.tsx";
import { Button } from "../../../ui/button.tsx";
import { confirmThen } from "../../../ui/confirm.tsx";
import { lazyPart } from "../../../ui/lazy-part.ts";
import { useRefreshPictures } from "../../../ui/person-avatar.tsx";
import { showError, toast } from "../../../ui/toast.tsx";
import { useRefresh } from "../api.ts";
import { text } from "../text.ts";

const PictureDialog = lazyPart(() => import("./picture-dialog.tsx").then((part) => part.PictureDialog));

/** The own picture, with what changes it. */
export function OwnPicture({ profile }: { readonly profile: User }) {
  const { id, name, email, avatar } = profile;
  const input = useRef<HTMLInputElement>(null);
  const choose = useRef<HTMLButtonElement>(null);
  const [chosen, setChosen] = useState<File>();
  const refresh = useRefresh();
  const refreshPictures = useRefreshPictures();
  const changed = async (done: string) => {
    refreshPictures();
    await Promise.all([refresh("profile"), loadSession()]);
    toast({ text: done, tone: "success" });
  };
  const remove = useMutation({
    mutationFn: () => request("DELETE", "/api/users/avatar"),
    onSuccess: async () => {
      await changed(text.pictureRemoved);
      choose.current?.focus();
    },
    onError: showError,
  });
  return (
    <div className="flex flex-wrap items-center gap-4">
      <Avatar name={name || email} size={72} picture={avatar === null ? undefined : { id, ...avatar }} />
      <div className="flex flex-wrap gap-2">
        <input
          ref={input}
          type="file"
          accept="image/*"
          hidden
          data-picture-input
          onChange={({ currentTarget }) => {
            setChosen(currentTarget.files?.[0]);
            // The same file can be chosen again.
            currentTarget.value = "";
          }}
        />
        <Button ref={choose} size="small" onClick={() => input.current?.click()}>
          {avatar === null ? text.choosePicture : text.changePicture}
        </Button>
        {avatar !== null && (
          <Button
            size="small"
            busy={remove.isPending}
            onClick={() => {
              const confirmation = { title: text.removePictureTitle, body: text.removePictureBody };
              confirmThen({ ...confirmation, action: text.removePicture }, () => remove.mutate());
            }}
          >
            {text.removePicture}
          </Button>
        )}
      </div>
      {chosen !== undefined && (
        <Suspense fallback={null}>
          <PictureDialog
            file={chosen}
            onSaved={() => changed(text.pictureSaved)}
            onClose={() => setChosen(undefined)}
          />
        </Suspense>
      )}
    </div>
  );
}
