import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Smartphone } from "lucide-react";
import { type FormEvent, useState } from "react";
import { messageOf } from "../../api/http.ts";
import { invalidateTree } from "../../api/queries.ts";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { formatRelative } from "../../base/format.ts";
import { Select } from "../../ui/select.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { type Device, devicesQuery, type RewindResult, rewindDevice } from "./api.ts";
import { fromLocalInput, hoursAgo, toLocalInput } from "./moment.ts";
import { text } from "./text.ts";

/** Undoes the changes by one device since a time (`?device=`). */
export function RewindTab() {
  const devices = useQuery(devicesQuery);
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-muted">{text.rewindIntro}</p>
      {devices.isPending && <Skeleton className="h-32" />}
      {devices.isError && <ErrorState error={devices.error} onRetry={() => void devices.refetch()} />}
      {devices.data?.length === 0 && (
        <EmptyState icon={Smartphone} title={text.noDevices}>
          {text.noDevicesHint}
        </EmptyState>
      )}
      {devices.data !== undefined && devices.data.length > 0 && <RewindForm devices={devices.data} />}
    </div>
  );
}

/** The options of the preview. The undo uses the same, even if the form has changed since. */
interface RewindOptions {
  readonly device: Device;
  readonly since: string;
}

function RewindForm({ devices }: { readonly devices: readonly Device[] }) {
  const search = useTextSearch();
  const setSearch = useSetTextSearch();
  const queryClient = useQueryClient();
  const device = devices.find(({ id }) => id === search["device"]) ?? devices[0];
  const [since, setSince] = useState(() => toLocalInput(hoursAgo(24)));
  const moment = fromLocalInput(since);
  const plan = useMutation({ mutationFn: ({ device, since }: RewindOptions) => rewindDevice(device.id, since, true) });
  const undo = useMutation({
    mutationFn: ({ device, since }: RewindOptions) => rewindDevice(device.id, since, false),
    onSuccess: ({ counts, hasMore }) => {
      plan.reset();
      const sentences = [
        text.undoneDone(counts.undone),
        ...(counts.failed === 0 ? [] : [text.undoneFailed(counts.failed)]),
        ...(hasMore ? [text.undoneMore] : []),
      ];
      toast({ text: sentences.join(" "), tone: counts.failed === 0 ? "success" : "danger" });
    },
    onSettled: () => invalidateTree(queryClient),
  });
  const close = () => {
    // Its result would appear in the next preview's dialog.
    if (undo.isPending) return;
    plan.reset();
    undo.reset();
  };
  if (device === undefined) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (moment !== undefined) plan.mutate({ device, since: moment });
  };
  return (
    <>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
        <Select
          label={text.device}
          value={device.id}
          onChange={(id) => setSearch({ device: id })}
          options={devices.map(({ id, name, lastActiveAt }) => ({
            value: id,
            label: `${name} (${formatRelative(lastActiveAt)})`,
          }))}
        />
        <TextField label={text.since} type="datetime-local" step={1} required value={since} onChange={setSince} />
        <Button type="submit" variant="primary" busy={plan.isPending}>
          {text.check}
        </Button>
      </form>
      {plan.isError && <ErrorMessage error={plan.error} />}
      {plan.isSuccess && (
        <Dialog
          open
          size="medium"
          onClose={close}
          title={text.rewindTitle(plan.variables.device.name)}
          footer={
            <>
              <Button onClick={close} disabled={undo.isPending}>
                {text.cancel}
              </Button>
              <Button
                variant="danger"
                busy={undo.isPending}
                disabled={plan.data.undone.length === 0}
                onClick={() => undo.mutate(plan.variables)}
              >
                {text.undo}
              </Button>
            </>
          }
        >
          {undo.isError && <ErrorMessage error={undo.error} />}
          <RewindPlan plan={plan.data} />
        </Dialog>
      )}
    </>
  );
}

function ErrorMessage({ error }: { readonly error: unknown }) {
  return (
    <p role="alert" className="mb-3 text-sm text-danger">
      {messageOf(error)}
    </p>
  );
}

function RewindPlan({ plan }: { readonly plan: RewindResult }) {
  const labels = {
    deleted_created: text.actionCreated,
    restored_deleted: text.actionDeleted,
    restored_content: text.actionContent,
    renamed_back: text.actionRenamed,
    moved_back: text.actionMoved,
    labels_back: text.actionLabels,
  };
  return (
    <div className="flex flex-col gap-3 text-sm">
      <p>{plan.undone.length === 0 ? text.undoneNothing : text.undonePlan(plan.counts.undone)}</p>
      {plan.undone.length > 0 && (
        <ul
          aria-label={text.planList}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolled list must be reachable by keyboard
          tabIndex={0}
          className="max-h-64 divide-y divide-line overflow-y-auto rounded-lg border border-line"
        >
          {plan.undone.map(({ fileId, action, name, folder }) => (
            <li key={`${fileId} ${action}`} className="flex flex-wrap justify-between gap-x-4 px-3 py-2">
              <span className="min-w-0 break-words">{folder === "/" ? `/${name}` : `${folder}/${name}`}</span>
              <span className="text-muted">{labels[action]}</span>
            </li>
          ))}
        </ul>
      )}
      {plan.skipped.length > 0 && (
        <>
          <h3 className="font-medium">{text.skippedTitle}</h3>
          <ul className="flex flex-col gap-1">
            {plan.skipped.map(({ fileId, name, message }) => (
              <li key={fileId}>
                {name}: <span className="text-muted">{message}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {plan.hasMore && <p className="text-muted">{text.undoneMore}</p>}
    </div>
  );
}
