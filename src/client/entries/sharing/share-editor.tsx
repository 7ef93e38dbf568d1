import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { ShareRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.tsx";
import { invalidateShares, updateShare } from "./api.ts";
import { toShareBody, toDraft, findProblems } from "./draft.ts";
import { ShareForm } from "./share-form.tsx";
import { text } from "./text.ts";
import { ErrorMessage } from "../../ui/error-message.tsx";

/** Changes the settings of an existing share. */
export function ShareEditor({
  share,
  name,
  onClose,
}: {
  readonly share: ShareRecord;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const id = useId();
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState(() => toDraft(share));
  const [isChecked, setIsChecked] = useState(false);
  const type = share.folder?.type ?? share.album?.type ?? "file";
  const problems = findProblems(draft, share);
  const save = useMutation({
    mutationFn: () => updateShare(share.id, toShareBody(draft, type, share)),
    onSuccess: async () => {
      toast({ text: text.saved });
      onClose();
      await invalidateShares(queryClient);
    },
  });
  const submit = () => {
    setIsChecked(true);
    if (Object.keys(problems).length === 0) save.mutate();
  };
  return (
    <Dialog
      open
      isPersistent
      onClose={onClose}
      title={text.editTitle({ name })}
      footer={
        <>
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button variant="primary" type="submit" form={id} busy={save.isPending}>
            {text.save}
          </Button>
        </>
      }
    >
      <ErrorMessage error={save.error} />
      <ShareForm
        id={id}
        draft={draft}
        onChange={setDraft}
        onSubmit={submit}
        problems={isChecked ? problems : {}}
        type={type}
        canHideLocation
        former={share}
      />
    </Dialog>
  );
}
