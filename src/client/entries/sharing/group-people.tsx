import { useQuery } from "@tanstack/react-query";
import { Disclosure } from "../../ui/disclosure.tsx";
import { PersonAvatar } from "../../ui/person-avatar.tsx";
import { fetchGroupPeople } from "./api.ts";
import { text } from "./text.ts";

/** Who is in a group that an item is shared with, if the server lets people find each other. */
export function GroupPeople({ group }: { readonly group: { readonly id: string; readonly name: string } }) {
  const { data } = useQuery({
    queryKey: ["people", "of-group", group.id],
    queryFn: ({ signal }) => fetchGroupPeople(group.id, signal),
    staleTime: 30_000,
    retry: false,
  });
  if (data === undefined || data === null) return null;
  const { people, total } = data;
  if (total === 0) return <p className="text-sm text-muted">{text.groupEmpty}</p>;
  return (
    <Disclosure
      title={text.groupPeople({ n: total })}
      label={text.groupPeopleOf({ n: total, name: group.name })}
      className="text-sm"
    >
      <ul
        aria-label={text.groupPeopleOf({ n: total, name: group.name })}
        className="mt-2 flex max-h-60 flex-col gap-2 overflow-y-auto"
      >
        {people.map(({ id, name }) => (
          <li key={id} className="flex items-center gap-2">
            <PersonAvatar id={id} name={name} size={24} />
            <bdi className="min-w-0 truncate">{name}</bdi>
          </li>
        ))}
      </ul>
      {total > people.length && <p className="mt-2 text-muted">{text.groupPeopleMore({ n: total - people.length })}</p>}
    </Disclosure>
  );
}
