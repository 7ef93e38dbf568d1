import { useMutation } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { request } from "../../../api/http.ts";
import { errorAt, readRejection, type Rejection } from "../../../api/rejection.ts";
import { text as runText } from "../../../entries/imports/text.ts";
import { Checkbox } from "../../../ui/checkbox.tsx";
import { type Chip, ChipField } from "../../../ui/chip-field.tsx";
import { FormDialog } from "../../../ui/form-dialog.tsx";
import { FormRejection } from "../../../ui/rejection-message.tsx";
import { Select } from "../../../ui/select.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { useAdminData, useRefresh } from "../api.ts";
import { nameOf } from "../users/user-columns.tsx";
import { text } from "./text.ts";

const KINDS = ["takeout", "nextcloud"] as const;
type FolderKind = (typeof KINDS)[number];

const TARGETS: Readonly<Record<FolderKind, string>> = { takeout: "/Photos", nextcloud: "/" };

const FIELDS = ["userId", "path", "folder"] as const;

interface Draft {
  readonly chosen: readonly Chip[];
  readonly kind: FolderKind;
  readonly path: string;
  readonly folder: string;
  readonly restoreDeleted: boolean;
}

const EMPTY: Draft = { chosen: [], kind: "takeout", path: "", folder: TARGETS.takeout, restoreDeleted: false };

/** Starts an import from the folder for imports of the server into an account. */
export function StartDialog({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(EMPTY);
  const [isMissing, setMissing] = useState(false);
  const refresh = useRefresh();
  const start = useMutation({
    mutationFn: ({ chosen, path, ...rest }: Draft) =>
      request("POST", "/api/admin/imports", { body: { userId: chosen[0]?.id, path: path.trim(), ...rest } }),
    onSuccess: async () => {
      toast({ text: text.started, tone: "success" });
      onClose();
      await refresh();
    },
  });
  const rejection = readRejection(start.error, FIELDS, { invalid_path: "folder", path_too_long: "folder" });
  const submit = () => {
    setMissing(draft.chosen.length === 0);
    if (draft.chosen.length > 0) start.mutate(draft);
  };
  const personError = isMissing && draft.chosen.length === 0 ? text.choosePerson : errorAt(rejection, "userId");
  return (
    <FormDialog
      isPersistent
      size="medium"
      title={text.startTitle}
      description={text.startHint}
      action={text.start}
      isBusy={start.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <FormRejection rejection={rejection} />
      <PersonField chosen={draft.chosen} error={personError} onChange={(chosen) => setDraft({ ...draft, chosen })} />
      <FolderFields draft={draft} rejection={rejection} onChange={setDraft} />
    </FormDialog>
  );
}

function FolderFields({
  draft,
  rejection,
  onChange,
}: {
  readonly draft: Draft;
  readonly rejection: Rejection<(typeof FIELDS)[number]> | undefined;
  readonly onChange: (draft: Draft) => void;
}) {
  const { kind, path, folder } = draft;
  return (
    <>
      <Select
        label={text.kind}
        value={kind}
        onChange={(next) =>
          onChange({ ...draft, kind: next, folder: folder === TARGETS[kind] ? TARGETS[next] : folder })
        }
        options={KINDS.map((value) => ({ value, label: text.kinds(value) }))}
      />
      <TextField
        label={text.path}
        hint={text.pathHint}
        error={errorAt(rejection, "path")}
        autoComplete="off"
        value={path}
        onChange={(next) => onChange({ ...draft, path: next })}
      />
      <TextField
        label={text.target}
        error={errorAt(rejection, "folder")}
        autoComplete="off"
        value={folder}
        onChange={(next) => onChange({ ...draft, folder: next })}
      />
      <Checkbox
        label={runText.restoreDeleted}
        hint={runText.restoreDeletedHint}
        checked={draft.restoreDeleted}
        onChange={(restoreDeleted) => onChange({ ...draft, restoreDeleted })}
      />
    </>
  );
}

function PersonField({
  chosen,
  error,
  onChange,
}: {
  readonly chosen: readonly Chip[];
  readonly error: string | undefined;
  readonly onChange: (chosen: readonly Chip[]) => void;
}) {
  const [typed, setTyped] = useState("");
  return (
    <ChipField
      label={text.person}
      chosen={chosen}
      typed={typed}
      onChange={(next, nextTyped) => {
        // One account: the last choice counts.
        onChange(next.slice(-1));
        setTyped(nextTyped);
      }}
      options={useAccounts(typed)}
      error={error}
    />
  );
}

/** The accounts that fit what is typed. */
function useAccounts(typed: string): readonly Chip[] {
  const search = useDeferredValue(typed.trim());
  const { data } = useAdminData("GET /api/admin/users", {
    query: { search: search || undefined, limit: 10, sort: "name" },
    keepsPrevious: true,
  });
  const key = typed.trim().toLowerCase();
  return (data?.users ?? [])
    .map((account): Chip => ({ id: account.id, name: nameOf(account), kind: "person", detail: account.email }))
    .filter(({ name, detail = "" }) => [name, detail].some((value) => value.toLowerCase().includes(key)));
}
