import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { type Chip, ChipField } from "../../ui/chip-field.tsx";
import { fetchPeople } from "./api.ts";
import { readEmails } from "./draft.ts";
import { text } from "./text.ts";

/** Chooses the people and groups to share with, by name if the server allows it, and by email address. */
export function PeopleField({
  chosen,
  typed,
  error,
  onChange,
}: {
  readonly chosen: readonly Chip[];
  readonly typed: string;
  readonly error: string | undefined;
  readonly onChange: (change: { readonly recipients: readonly Chip[]; readonly typed: string }) => void;
}) {
  const searched = useDeferredValue(typed.trim());
  const found = useQuery({
    queryKey: ["people", searched],
    queryFn: ({ signal }) => fetchPeople(searched, signal),
    enabled: searched !== "",
    staleTime: 30_000,
    retry: false,
    // While the next letters are searched, the former people stay.
    placeholderData: keepPreviousData,
  });
  return (
    <ChipField
      label={text.people}
      hint={text.peopleHint}
      error={error}
      chosen={chosen}
      typed={typed}
      onChange={(recipients, next) => onChange({ recipients, typed: next })}
      options={(found.data ?? []).filter((option) => fits(option, typed))}
      read={readEmails}
    />
  );
}

/** Whether an option fits what is typed now: the people on screen may be those of the former letters. */
function fits({ name, detail = "", kind }: Chip, typed: string): boolean {
  const [key, folded] = [fold(typed.trim()), fold(name)];
  return folded.startsWith(key) || folded.includes(` ${key}`) || (kind === "person" && fold(detail).startsWith(key));
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
