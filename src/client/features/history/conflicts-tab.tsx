import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { GitFork } from "lucide-react";
import { invalidateTree } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatBytes, formatDateTime, formatRelative } from "../../base/format.ts";
import { toast, showError } from "../../ui/toast.tsx";
import { type Conflict, type ConflictSide, conflictsQuery, decideConflict, devicesQuery } from "./api.ts";
import { pathOf } from "./change-list.tsx";
import { text } from "./text.ts";
import { LoadedList } from "../../ui/loaded.tsx";

/** Conflicts between devices and others: chooses the version to keep. */
export function ConflictsTab() {
  const conflicts = useQuery(conflictsQuery);
  const devices = useQuery(devicesQuery);
  const nameOf = (id: string | null) => devices.data?.find((device) => device.id === id)?.name ?? id ?? "";
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-muted">{text.conflictsIntro}</p>
      <LoadedList
        query={conflicts}
        empty={
          <EmptyState icon={GitFork} title={text.noConflicts}>
            {text.noConflictsHint}
          </EmptyState>
        }
      >
        {(items) => (
          <ul aria-label={text.conflictsList} className="divide-y divide-line">
            {items.map((conflict) => (
              <ConflictItem key={conflict.conflictId} conflict={conflict} device={nameOf(conflict.local.deviceId)} />
            ))}
          </ul>
        )}
      </LoadedList>
    </div>
  );
}

function ConflictItem({ conflict, device }: { readonly conflict: Conflict; readonly device: string }) {
  const queryClient = useQueryClient();
  const decide = useMutation({
    mutationFn: (resolution: "keep_remote" | "keep_local") => decideConflict(conflict.conflictId, resolution),
    onSuccess: async (isAwaited) => {
      toast({ text: isAwaited ? text.conflictWaits : text.conflictDone });
      await invalidateTree(queryClient);
    },
    onError: showError,
  });
  const { local, remote, type, action, detectedAt, awaitsContent } = conflict;
  const name = remote.name ?? local.name ?? "";
  const title = { modified: text.conflictModified, deleted: text.conflictDeleted, name: text.conflictName }[type]({
    name,
  });
  return (
    <li className="flex flex-col gap-3 py-4">
      <div>
        <p className="font-medium break-words">{title}</p>
        <p className="text-sm text-muted">
          {text.requestedChange(action, { device, when: formatRelative(detectedAt) })}
        </p>
      </div>
      <dl className="grid gap-2 text-sm sm:grid-cols-2">
        <Side title={text.sideServer} side={remote} />
        <Side title={text.sideDevice} side={local} />
      </dl>
      {awaitsContent ? (
        <p>
          <Badge tone="warning">{text.awaits}</Badge>
        </p>
      ) : (
        <div className="flex flex-wrap gap-2">
          <Button busy={decide.isPending} onClick={() => decide.mutate("keep_remote")}>
            {text.keepServer}
          </Button>
          <Button busy={decide.isPending} onClick={() => decide.mutate("keep_local")}>
            {text.keepDevice}
          </Button>
        </div>
      )}
    </li>
  );
}

function Side({ title, side }: { readonly title: string; readonly side: ConflictSide }) {
  const { name, folder, size, modifiedAt } = side;
  const details = [
    name === null ? undefined : pathOf(folder ?? "/", name),
    size === null ? undefined : formatBytes(size),
    modifiedAt === null ? undefined : formatDateTime(modifiedAt),
  ].filter((detail) => detail !== undefined);
  return (
    <div className="rounded-lg border border-line px-3 py-2">
      <dt className="text-muted">{title}</dt>
      <dd className="break-words">{details.length === 0 ? text.sideGone : details.join(", ")}</dd>
    </div>
  );
}
