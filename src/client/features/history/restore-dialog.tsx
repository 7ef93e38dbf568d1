import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { invalidateTree } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { formatDateTime } from "../../base/format.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { toast, showError } from "../../ui/toast.tsx";
import { type RestoreResult, restoreFolder, restorePlanQuery } from "./api.ts";
import { ChangeList, pathOf, SkippedList } from "./change-list.tsx";
import { text } from "./text.ts";
import { ErrorMessage } from "../../ui/error-message.tsx";

/** Previews and runs a restore of a folder. The restore continues if the dialog is closed. */
export function RestoreDialog({
  folder,
  at,
  onClose,
}: {
  readonly folder: string;
  readonly at: string;
  readonly onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const [removeNew, setRemoveNew] = useState(false);
  const options = { folder, at, removeNew };
  const plan = useQuery({ ...restorePlanQuery(options), placeholderData: (before) => before });
  const isMounted = useIsMounted();
  const restore = useMutation({
    mutationFn: () => restoreFolder(options),
    onSuccess: (changes) => {
      toast({ text: text.restoreDone({ n: changes }), tone: "success" });
      // Another dialog may be open by now.
      if (isMounted.current) onClose();
    },
    onError: (error) => {
      if (!isMounted.current) showError(error);
    },
    // Also after an error, because part of the folder may have been restored.
    onSettled: () => invalidateTree(queryClient),
  });
  const name = folder === "/" ? text.root : folder.slice(folder.lastIndexOf("/") + 1);
  const isNothing = plan.data !== undefined && plan.data.changes.length === 0;
  return (
    <Dialog
      open
      size="medium"
      onClose={onClose}
      title={text.planTitle({ folder: name })}
      description={text.planIntro({ when: formatDateTime(at) })}
      footer={
        <>
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button
            variant="primary"
            busy={restore.isPending}
            disabled={plan.data === undefined || plan.isPlaceholderData || isNothing}
            onClick={() => restore.mutate()}
          >
            {text.confirmRestore}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <ErrorMessage error={restore.error} />
        {plan.isError && <ErrorState error={plan.error} onRetry={() => void plan.refetch()} />}
        {plan.isPending && <Skeleton className="h-40" />}
        {plan.data !== undefined && (
          <>
            <Plan plan={plan.data} />
            {(plan.data.new.length > 0 || removeNew) && (
              <Checkbox label={text.removeNew} hint={text.removeNewHint} checked={removeNew} onChange={setRemoveNew} />
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}

/** Whether the component is still mounted, for late results. */
function useIsMounted(): { readonly current: boolean } {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}

function Plan({ plan }: { readonly plan: RestoreResult }) {
  const { counts, changes, skipped } = plan;
  const totals = [
    counts.content > 0 && text.planContent({ n: counts.content }),
    counts.undelete > 0 && text.planUndelete({ n: counts.undelete }),
    counts["place"] > 0 && text.planMove({ n: counts["place"] }),
    counts.aside > 0 && text.planAside({ n: counts.aside }),
    counts.remove > 0 && text.planRemove({ n: counts.remove }),
    counts.new > 0 && text.planNew({ n: counts.new }),
    counts.skipped > 0 && text.planSkipped({ n: counts.skipped }),
  ].filter((total) => total !== false);
  return (
    <>
      {changes.length === 0 && <p className="text-sm">{totals.length === 0 ? text.planNothing : text.planNoChanges}</p>}
      <ul className="list-disc ps-5 text-sm">
        {totals.map((total) => (
          <li key={total}>{total}</li>
        ))}
      </ul>
      <ChangeList
        changes={changes.map(({ id, change, name, folder, from }) => ({
          key: `${id} ${change}`,
          path: pathOf(folder, name),
          label: `${labelOf(change)}${from !== undefined && change === "place" ? ` ${text.from({ where: pathOf(from.folder, from.name) })}` : ""}`,
        }))}
      />
      {changes.length >= 1_000 && <p className="text-sm text-muted">{text.more}</p>}
      <SkippedList
        items={skipped.map(({ id, name, folder, message }) => ({ key: id, name: pathOf(folder, name), message }))}
      />
    </>
  );
}

function labelOf(change: RestoreResult["changes"][number]["change"]): string {
  switch (change) {
    case "content":
      return text.changeContent;
    case "place":
      return text.changeMove;
    case "undelete":
      return text.changeUndelete;
    case "aside":
      return text.changeAside;
    case "remove":
      return text.changeRemove;
  }
}
