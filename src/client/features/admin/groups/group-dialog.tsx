import { useState } from "react";
import { request } from "../../../api/http.ts";
import { TextField } from "../../../ui/text-field.tsx";
import { toast } from "../../../ui/toast.tsx";
import { AdminDialog } from "../admin-dialog.tsx";
import type { Group } from "../types.ts";
import { text } from "./text.ts";

/** The name of a group; creates a new group if none is given. */
export function GroupDialog({
  group,
  onCreated,
  onClose,
}: {
  readonly group?: Group;
  readonly onCreated: (group: Group) => void;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState(group?.name ?? "");
  const save = async () => {
    const body = { name: name.trim() };
    if (group === undefined) {
      const created = await request<Group>("POST", "/api/admin/groups", { body });
      toast({ text: text.created({ name: created.name }), tone: "success" });
      onCreated(created);
      return;
    }
    await request("PATCH", `/api/admin/groups/${group.id}`, { body });
    toast({ text: text.renamed, tone: "success" });
  };
  return (
    <AdminDialog
      title={group === undefined ? text.create : text.renameTitle({ name: group.name })}
      action={group === undefined ? text.create : text.rename}
      isDisabled={name.trim() === ""}
      run={save}
      onClose={onClose}
    >
      <TextField label={text.name} required maxLength={100} autoComplete="off" value={name} onChange={setName} />
    </AdminDialog>
  );
}
