import { UserPlus } from "lucide-react";
import { type RefObject, useDeferredValue, useRef, useState } from "react";
import { request } from "../../../api/http.ts";
import { PersonAvatar } from "../../../ui/person-avatar.tsx";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { type Chip, ChipField } from "../../../ui/chip-field.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Form } from "../../../ui/form.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { toast } from "../../../ui/toast.tsx";
import { useAction, useAdminData } from "../api.ts";
import { text as adminText } from "../text.ts";
import type { Group, GroupMember } from "../types.ts";
import { nameOf } from "../users/user-columns.tsx";
import { text } from "./text.ts";

/** The members of a group, with a field that adds people and a button that removes each. */
export function MembersDialog({ group, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const query = useAdminData("GET /api/admin/groups/{id}/members", { id: group.id, query: { limit: 1000 } });
  return (
    <Dialog
      open
      isPersistent
      size="medium"
      onClose={onClose}
      title={text.membersOf({ name: group.name })}
      description={text.membersHint}
      footer={<Button onClick={onClose}>{adminText.close}</Button>}
    >
      <AddMembers group={group} field={field} />
      <h3 className="mt-5 mb-1 font-medium">{text.members}</h3>
      <Loaded query={query}>
        {({ members, pagination }) =>
          members.length === 0 ? (
            <p className="text-sm text-muted">{text.noMembers}</p>
          ) : (
            <>
              <ul aria-label={text.members} className="text-sm">
                {members.map((member) => (
                  <MemberRow key={member.id} group={group} member={member} onRemoved={() => field.current?.focus()} />
                ))}
              </ul>
              {pagination.total > members.length && (
                <p className="mt-2 text-sm text-muted">{text.more({ n: pagination.total - members.length })}</p>
              )}
            </>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function AddMembers({ group, field }: { readonly group: Group; readonly field: RefObject<HTMLInputElement | null> }) {
  const [chosen, setChosen] = useState<readonly Chip[]>([]);
  const [typed, setTyped] = useState("");
  const search = useDeferredValue(typed.trim());
  const found = useAdminData("GET /api/admin/users", {
    query: { search: search || undefined, limit: 10, sort: "name" },
    keepsPrevious: true,
  });
  const options = (found.data?.users ?? [])
    .map((account): Chip => ({ id: account.id, name: nameOf(account), kind: "person", detail: account.email }))
    .filter((option) => isMatch(option, typed));
  const add = useAction(
    async () => {
      for (const { id } of chosen) {
        // oxlint-disable-next-line no-await-in-loop -- the first one may ask for the password
        await request("PUT", `/api/admin/groups/${group.id}/members/${id}`);
      }
    },
    () => {
      toast({ text: text.added({ n: chosen.length }), tone: "success" });
      setChosen([]);
    },
  );
  return (
    <Form
      noValidate
      onSubmit={() => {
        if (chosen.length > 0) add.mutate();
      }}
      className="flex flex-col gap-3"
    >
      <ChipField
        label={text.addPeople}
        chosen={chosen}
        typed={typed}
        onChange={(next, text) => {
          setChosen(next);
          setTyped(text);
        }}
        options={options}
        inputRef={field}
      />
      <Button
        type="submit"
        variant="primary"
        icon={UserPlus}
        busy={add.isPending}
        disabled={chosen.length === 0}
        className="self-start"
      >
        {text.add}
      </Button>
    </Form>
  );
}

/** Whether an account fits what is typed now: those on screen may be of the former letters. */
function isMatch({ name, detail = "" }: Chip, typed: string): boolean {
  const key = typed.trim().normalize("NFKC").toLowerCase();
  return [name, detail].some((value) => value.normalize("NFKC").toLowerCase().includes(key));
}

function MemberRow({
  group,
  member,
  onRemoved,
}: {
  readonly group: Group;
  readonly member: GroupMember;
  /** The button that had the focus is gone. */
  readonly onRemoved: () => void;
}) {
  const name = member.name === "" ? member.email : member.name;
  const remove = useAction(
    () => request("DELETE", `/api/admin/groups/${group.id}/members/${member.id}`),
    () => {
      toast({ text: text.memberRemoved({ name }) });
      onRemoved();
    },
  );
  return (
    <li className="flex items-center gap-3 border-b border-line py-2 last:border-b-0">
      <PersonAvatar id={member.id} name={name} />
      <span className="min-w-0 flex-1">
        <span className="flex flex-wrap items-center gap-2">
          <bdi className="break-words">{name}</bdi>
          {member.disabled && <Badge tone="warning">{adminText.disabled}</Badge>}
        </span>
        <span className="block truncate text-muted">{member.email}</span>
      </span>
      <Button
        size="small"
        aria-label={text.removeMemberOf({ name })}
        busy={remove.isPending}
        onClick={() => remove.mutate()}
      >
        {text.removeMember}
      </Button>
    </li>
  );
}
