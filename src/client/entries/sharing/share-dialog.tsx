import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "../../ui/icons.ts";
import { useId, useState } from "react";
import type { ShareRecord } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { toast } from "../../ui/toast.tsx";
import { createShares, invalidateShares, mayContainPhotos, type ShareTarget, sharesOfQuery } from "./api.ts";
import { toShareBody, EMPTY_DRAFT, findProblems } from "./draft.ts";
import { ShareForm } from "./share-form.tsx";
import { ShareItem } from "./share-item.tsx";
import { text } from "./text.ts";
import { ErrorMessage } from "../../ui/error-message.tsx";

/** Shares a file or folder: its existing shares, and the form for another one. */
export function ShareDialog({ entry, onClose }: { readonly entry: ShareTarget; readonly onClose: () => void }) {
  const formId = useId();
  const shares = useQuery(sharesOfQuery(entry));
  const [isAdding, setIsAdding] = useState(false);
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [isChecked, setIsChecked] = useState(false);
  const queryClient = useQueryClient();
  const problems = findProblems(draft);
  const known = shares.data ?? [];
  const hasForm = shares.isSuccess && (isAdding || known.length === 0);
  const create = useMutation({
    mutationFn: () => createShares(entry, toShareBody(draft, entry.type)),
    onSuccess: async (created: readonly ShareRecord[]) => {
      const ids = new Set(created.map(({ id }) => id));
      queryClient.setQueryData(sharesOfQuery(entry).queryKey, (before) => [
        ...created,
        ...(before ?? []).filter(({ id }) => !ids.has(id)),
      ]);
      setIsAdding(false);
      setDraft(EMPTY_DRAFT);
      setIsChecked(false);
      toast({
        text: created[0]?.kind === "account" ? text.createdForPeople({ n: created.length }) : text.created,
        tone: "success",
      });
      await invalidateShares(queryClient);
    },
  });
  const submit = () => {
    setIsChecked(true);
    if (Object.keys(problems).length === 0) create.mutate();
  };
  const cancel = () => {
    setIsAdding(false);
    create.reset();
  };
  // Not while it loads: a button that is replaced by the form would lose the focus that it got.
  const footer = !shares.isSuccess ? undefined : hasForm ? (
    <>
      {known.length > 0 && <Button onClick={cancel}>{text.cancel}</Button>}
      <Button variant="primary" type="submit" form={formId} busy={create.isPending}>
        {draft.kind === "account" ? text.createForPerson : text.create}
      </Button>
    </>
  ) : (
    <Button icon={Plus} onClick={() => setIsAdding(true)}>
      {text.newShare}
    </Button>
  );
  return (
    <Dialog open size="medium" onClose={onClose} title={text.shareTitle({ name: entry.name })} footer={footer}>
      <ErrorMessage error={create.error} />
      {shares.isPending && <Skeleton className="h-40" />}
      {shares.isError && <ErrorState error={shares.error} onRetry={() => void shares.refetch()} />}
      {hasForm ? (
        <ShareForm
          id={formId}
          draft={draft}
          onChange={setDraft}
          onSubmit={submit}
          problems={isChecked ? problems : {}}
          type={entry.type}
          canHideLocation={mayContainPhotos(entry)}
        />
      ) : (
        <ShareList shares={known} name={entry.name} />
      )}
    </Dialog>
  );
}

function ShareList({ shares, name }: { readonly shares: readonly ShareRecord[]; readonly name: string }) {
  return (
    <ul aria-label={text.existing} className="divide-y divide-line">
      {shares.map((share) => (
        <li key={share.id} className="py-4 first:pt-1 last:pb-0">
          <ShareItem share={share} name={name} />
        </li>
      ))}
    </ul>
  );
}
