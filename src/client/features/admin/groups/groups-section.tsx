import { Pencil } from "lucide-react";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { formatDate } from "../../../base/format.ts";
import { Button } from "../../../ui/button.tsx";
import { confirmThen } from "../../../ui/confirm.tsx";
import type { Column } from "../../../ui/data-table.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Plus, Trash2, UsersRound } from "../../../ui/icons.ts";
import type { MenuItem } from "../../../ui/menu-items.ts";
import { MoreMenu } from "../../../ui/more-menu.tsx";
import { toast } from "../../../ui/toast.tsx";
import { useAction, useAdminData } from "../api.ts";
import { PagedTable, usePage } from "../paged-table.tsx";
import { text as adminText } from "../text.ts";
import type { Group } from "../types.ts";
import { GroupDialog } from "./group-dialog.tsx";
import { MembersDialog } from "./members-dialog.tsx";
import { text } from "./text.ts";

/** All groups, with buttons to create, rename and delete them, and to change their members. */
export function GroupsSection() {
  const [page, setPage] = usePage();
  const [edited, setEdited] = useState<Group | "new">();
  const [opened, setOpened] = useState<Group>();
  const query = useAdminData("GET /api/admin/groups", { query: { page } });
  const remove = useAction(
    ({ id }: Group) => request("DELETE", `/api/admin/groups/${id}`),
    (_result, { name }) => toast({ text: text.removed({ name }) }),
  );
  const confirmRemoval = (group: Group) => {
    const { name, shares } = group;
    const question = {
      title: text.removeTitle({ name }),
      body: text.removeBody({ shares }),
      action: text.remove,
      danger: true,
    };
    confirmThen(question, () => remove.mutate(group));
  };
  const itemsFor = (group: Group): readonly MenuItem[] => [
    { label: text.editMembers, icon: UsersRound, run: () => setOpened(group) },
    { label: text.rename, icon: Pencil, run: () => setEdited(group) },
    null,
    { label: text.remove, icon: Trash2, danger: true, run: () => confirmRemoval(group) },
  ];
  const add = (
    <Button variant="primary" icon={Plus} onClick={() => setEdited("new")}>
      {text.create}
    </Button>
  );
  return (
    <>
      <PagedTable
        query={query}
        rowsOf={({ groups }) => groups}
        empty={
          <EmptyState icon={UsersRound} title={text.none} action={add}>
            {text.noneHint}
          </EmptyState>
        }
        above={
          <div className="mb-3 flex flex-wrap items-start justify-between gap-3">
            <p className="max-w-2xl text-sm text-muted">{text.hint}</p>
            {add}
          </div>
        }
        caption={text.title}
        columns={groupColumns(setOpened, itemsFor)}
        onPage={setPage}
      />
      {edited !== undefined && (
        <GroupDialog
          {...(edited !== "new" && { group: edited })}
          onClose={() => setEdited(undefined)}
          onCreated={setOpened}
        />
      )}
      {opened !== undefined && edited === undefined && (
        <MembersDialog group={opened} onClose={() => setOpened(undefined)} />
      )}
    </>
  );
}

function groupColumns(
  onOpen: (group: Group) => void,
  itemsFor: (group: Group) => readonly MenuItem[],
): Column<Group>[] {
  return [
    {
      key: "name",
      title: text.name,
      isHeader: true,
      cell: (group) => (
        <button
          type="button"
          className="min-h-11 text-start font-medium break-words underline md:min-h-6"
          onClick={() => onOpen(group)}
        >
          {group.name}
        </button>
      ),
    },
    { key: "members", title: text.members, align: "end", cell: ({ members }) => members },
    { key: "shares", title: text.shares, align: "end", cell: ({ shares }) => shares },
    { key: "created", title: text.createdAt, cell: ({ createdAt }) => formatDate(createdAt) },
    {
      key: "actions",
      title: adminText.actions,
      isTitleHidden: true,
      align: "end",
      cell: (group) => <MoreMenu label={adminText.actionsFor({ name: group.name })} items={itemsFor(group)} />,
    },
  ];
}
