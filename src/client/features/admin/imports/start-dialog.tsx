import { useMutation } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { request } from "../../../api/http.ts";
import { errorAt, readRejection } from "../../../api/rejection.ts";
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

/** Starts an import from the folder for imports of the server into an account. */
export function StartDialog({ onClose }: { readonly onClose: () => void }) {
  const [chosen, setChosen] = useState<readonly Chip[]>([]);
  const [typed, setTyped] = useState("");
  const [kind, setKind] = useState<FolderKind>("takeout");
  const [path, setPath] = useState("");
  const [folder, setFolder] = useState(TARGETS.takeout);
  const [isMissing, setMissing] = useState(false);
  const refresh = useRefresh();
  const [person] = chosen;
  const start = useMutation({
    mutationFn: () =>
      request("POST", "/api/admin/imports", { body: { userId: person?.id, kind, path: path.trim(), folder } }),
    onSuccess: async () => {
      toast({ text: text.started, tone: "success" });
      onClose();
      await refresh();
    },
  });
  const rejection = readRejection(start.error, FIELDS, { invalid_path: "folder", path_too_long: "folder" });
  const submit = () => {
    const isPersonMissing = chosen.length !== 1;
    setMissing(isPersonMissing);
    if (!isPersonMissing) start.mutate();
  };
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
      <ChipField
        label={text.person}
        chosen={chosen}
        typed={typed}
        onChange={(next, nextTyped) => {
          // One account: the last choice counts.
          setChosen(next.slice(-1));
          setTyped(nextTyped);
          setMissing(false);
        }}
        options={useAccounts(typed)}
        error={isMissing ? text.choosePerson : errorAt(rejection, "userId")}
      />
      <Select
        label={text.kind}
        value={kind}
        onChange={(next) => {
          if (folder === TARGETS[kind]) setFolder(TARGETS[next]);
          setKind(next);
        }}
        options={KINDS.map((value) => ({ value, label: text.kinds(value) }))}
      />
      <TextField
        label={text.path}
        hint={text.pathHint}
        error={errorAt(rejection, "path")}
        autoComplete="off"
        value={path}
        onChange={setPath}
      />
      <TextField
        label={text.target}
        error={errorAt(rejection, "folder")}
        autoComplete="off"
        value={folder}
        onChange={setFolder}
      />
    </FormDialog>
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
