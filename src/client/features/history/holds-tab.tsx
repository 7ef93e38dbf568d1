import { Link } from "@tanstack/react-router";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ShieldCheck } from "../../ui/icons.ts";
import { invalidateTree, keys } from "../../api/queries.ts";
import { Button, buttonClassName } from "../../ui/button.tsx";
import { cx } from "../../ui/cx.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatDateTime, formatRelative } from "../../base/format.ts";
import { toast, showError } from "../../ui/toast.tsx";
import { decideHold, devicesQuery, endAppPassword, type Hold, holdsQuery } from "./api.ts";
import { text } from "./text.ts";
import { confirmThen } from "../../ui/confirm.tsx";
import { LoadedList } from "../../ui/loaded.tsx";

/** Unusually many deletions or replacements by a device, which wait for a person's decision. */
export function HoldsTab() {
  const holds = useQuery(holdsQuery);
  const devices = useQuery(devicesQuery);
  const nameOf = (id: string) => devices.data?.find((device) => device.id === id)?.name ?? id;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-muted">{text.holdsIntro}</p>
      <LoadedList
        query={holds}
        empty={
          <EmptyState icon={ShieldCheck} title={text.noHolds}>
            {text.noHoldsHint}
          </EmptyState>
        }
      >
        {(items) => (
          <ul aria-label={text.holdsList} className="divide-y divide-line">
            {items.map((hold) => (
              <HoldItem key={hold.holdId} hold={hold} device={nameOf(hold.deviceId)} />
            ))}
          </ul>
        )}
      </LoadedList>
    </div>
  );
}

function HoldItem({ hold, device }: { readonly hold: Hold; readonly device: string }) {
  const queryClient = useQueryClient();
  const isProgram = hold.changes === 0;
  const [since, until] = [formatRelative(hold.since), formatDateTime(hold.expiresAt)];
  const decide = useMutation({
    mutationFn: (accept: boolean) => decideHold(hold.holdId, accept),
    onSuccess: async (_, accept) => {
      toast({ text: accept ? (isProgram ? text.acceptedProgram : text.accepted) : text.declined });
      await invalidateTree(queryClient);
    },
    onError: showError,
  });
  const accept = () =>
    confirmThen(
      {
        title: text.acceptTitle({ n: hold.changes }),
        body: text.acceptBody({ device }),
        action: text.accept,
        danger: true,
      },
      () => decide.mutate(true),
    );
  return (
    <li className="flex flex-wrap items-center gap-3 py-4">
      <div className="min-w-0 flex-1 basis-64">
        <p className="font-medium break-words">{text.hold({ device, n: hold.changes })}</p>
        <p className="text-sm text-muted">
          {isProgram ? text.holdOfProgram({ since, until }) : text.holdSince({ since, until })}
        </p>
      </div>
      <div className="flex flex-wrap gap-2">
        {isProgram ? (
          <ProgramActions id={hold.deviceId} program={device} />
        ) : (
          <Button busy={decide.isPending} onClick={() => decide.mutate(false)}>
            {text.decline}
          </Button>
        )}
        <Button variant="danger" busy={decide.isPending} onClick={accept}>
          {text.accept}
        </Button>
      </div>
    </li>
  );
}

/**
 * What a person can do against a program that was stopped. It has no button to reject: nothing waits, and the guard
 * would count from the beginning.
 */
function ProgramActions({ id, program }: { readonly id: string; readonly program: string }) {
  const queryClient = useQueryClient();
  const end = useMutation({
    mutationFn: () => endAppPassword(id),
    onSuccess: async () => {
      toast({ text: text.accessEnded });
      await Promise.all([invalidateTree(queryClient), queryClient.invalidateQueries({ queryKey: keys.appPasswords })]);
    },
    onError: showError,
  });
  const confirmEnd = () =>
    confirmThen(
      {
        title: text.endAccessTitle({ device: program }),
        body: text.endAccessBody,
        action: text.endAccess,
        danger: true,
      },
      () => end.mutate(),
    );
  return (
    <>
      <Link
        to="/history"
        search={{ tab: "rewind", device: id }}
        aria-label={text.undoOf({ device: program })}
        className={cx(buttonClassName({}), "no-underline")}
      >
        {text.undo}
      </Link>
      <Button busy={end.isPending} onClick={confirmEnd}>
        {text.endAccess}
      </Button>
    </>
  );
}
