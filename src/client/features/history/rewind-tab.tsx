import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Smartphone } from "lucide-react";
import { useState } from "react";
import { invalidateTree } from "../../api/queries.ts";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatRelative } from "../../base/format.ts";
import { Select } from "../../ui/select.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { toast } from "../../ui/toast.tsx";
import { type Device, devicesQuery, type RewindResult, rewindDevice } from "./api.ts";
import { fromLocalInput, hoursAgo, toLocalInput } from "./moment.ts";
import { ChangeList, pathOf, SkippedList } from "./change-list.tsx";
import { text } from "./text.ts";
import { Form } from "../../ui/form.tsx";
import { LoadedList } from "../../ui/loaded.tsx";
import { ErrorMessage } from "../../ui/error-message.tsx";

/** Undoes the changes by one device since a time (`?device=`). */
export function RewindTab() {
  const devices = useQuery(devicesQuery);
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-muted">{text.rewindIntro}</p>
      <LoadedList
        query={devices}
        empty={
          <EmptyState icon={Smartphone} title={text.noDevices}>
            {text.noDevicesHint}
          </EmptyState>
        }
      >
        {(items) => <RewindForm devices={items} />}
      </LoadedList>
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
  const device = devices.find(({ id }) => id === search["device"]) ?? devices[0];
  const [since, setSince] = useState(() => toLocalInput(hoursAgo(24)));
  const moment = fromLocalInput(since);
  const plan = useMutation({ mutationFn: ({ device, since }: RewindOptions) => rewindDevice(device.id, since, true) });
  if (device === undefined) return null;
  const submit = () => {
    if (moment !== undefined) plan.mutate({ device, since: moment });
  };
  return (
    <>
      <Form onSubmit={submit} className="flex flex-wrap items-end gap-3">
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
      </Form>
      <ErrorMessage error={plan.error} />
      {plan.isSuccess && <RewindDialog options={plan.variables} plan={plan.data} onClose={plan.reset} />}
    </>
  );
}

/** Previews the changes that will be undone, and undoes them. */
function RewindDialog({
  options,
  plan,
  onClose,
}: {
  readonly options: RewindOptions;
  readonly plan: RewindResult;
  readonly onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const undo = useMutation({
    mutationFn: () => rewindDevice(options.device.id, options.since, false),
    onSuccess: ({ counts, hasMore }) => {
      onClose();
      const sentences = [
        text.undoneDone({ n: counts.undone }),
        ...(counts.failed === 0 ? [] : [text.undoneFailed({ n: counts.failed })]),
        ...(hasMore ? [text.undoneMore] : []),
      ];
      toast({ text: sentences.join(" "), tone: counts.failed === 0 ? "success" : "danger" });
    },
    onSettled: () => invalidateTree(queryClient),
  });
  const close = () => {
    // Its result would appear in the next preview's dialog.
    if (!undo.isPending) onClose();
  };
  return (
    <Dialog
      open
      size="medium"
      onClose={close}
      title={text.rewindTitle({ device: options.device.name })}
      footer={
        <>
          <Button onClick={close} disabled={undo.isPending}>
            {text.cancel}
          </Button>
          <Button
            variant="danger"
            busy={undo.isPending}
            disabled={plan.undone.length === 0}
            onClick={() => undo.mutate()}
          >
            {text.undo}
          </Button>
        </>
      }
    >
      <ErrorMessage error={undo.error} />
      <RewindPlan plan={plan} />
    </Dialog>
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
      <p>{plan.undone.length === 0 ? text.undoneNothing : text.undonePlan({ n: plan.counts.undone })}</p>
      <ChangeList
        changes={plan.undone.map(({ fileId, action, name, folder }) => ({
          key: `${fileId} ${action}`,
          path: pathOf(folder, name),
          label: labels[action],
        }))}
      />
      <SkippedList items={plan.skipped.map(({ fileId, name, message }) => ({ key: fileId, name, message }))} />
      {plan.hasMore && <p className="text-muted">{text.undoneMore}</p>}
    </div>
  );
}
