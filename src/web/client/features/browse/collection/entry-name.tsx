import type { FormEvent, KeyboardEvent } from "react";
import { useRef, useState } from "react";
import { messageOf } from "../../../api/http.ts";
import type { Entry } from "../../../api/types.ts";
import { text } from "../text.ts";
import type { GridLook, Renaming } from "./grid-types.ts";

/** The name of an entry, or the field to change it. */
export function EntryName<T extends Entry>({
  entry,
  look,
}: {
  readonly entry: T;
  readonly look: Pick<GridLook<T>, "nameOf" | "renaming">;
}) {
  if (look.renaming?.id === entry.id) return <RenameField entry={entry} renaming={look.renaming} />;
  return (
    <span className="block truncate" title={entry.name} dir="auto">
      {look.nameOf?.(entry) ?? entry.name}
    </span>
  );
}

/** Enter or leaving the field saves, Escape keeps the name; a refusal is told below the field, which stays. */
function RenameField({ entry, renaming }: { readonly entry: Entry; readonly renaming: Renaming }) {
  const [name, setName] = useState(entry.name);
  const [error, setError] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const isOver = useRef(false);
  const errorId = `rename-error-${entry.id}`;

  const end = () => {
    isOver.current = true;
    renaming.end();
  };
  const save = async () => {
    if (isOver.current || isSaving) return;
    const wanted = name.trim();
    if (wanted === entry.name) return end();
    if (wanted === "") return setError(text.nameEmpty);
    setSaving(true);
    try {
      await renaming.save(wanted);
      end();
    } catch (refusal) {
      setError(messageOf(refusal));
    } finally {
      setSaving(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // The keys of the list are not meant while a name is written.
    event.stopPropagation();
    if (event.key === "Escape") end();
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void save();
  };

  return (
    <form
      onSubmit={onSubmit}
      onKeyDown={onKeyDown}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onPointerDown={(event) => event.stopPropagation()}
      className="relative"
    >
      <input
        ref={(field) => {
          if (field === null || field.dataset["begun"] === "true") return;
          field.dataset["begun"] = "true";
          field.focus({ preventScroll: true });
          field.setSelectionRange(0, stemLength(entry));
        }}
        aria-label={text.newName}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : errorId}
        value={name}
        readOnly={isSaving}
        onChange={(event) => {
          setName(event.target.value);
          setError(undefined);
        }}
        onBlur={() => (error === undefined ? void save() : end())}
        className="field py-0.5! select-text"
        spellCheck={false}
        autoComplete="off"
      />
      {error !== undefined && (
        <p
          id={errorId}
          role="alert"
          className="absolute start-0 top-full z-20 mt-1 max-w-80 rounded-md border border-danger bg-raised px-2 py-1 text-sm whitespace-normal text-danger shadow-lg"
        >
          {error}
        </p>
      )}
    </form>
  );
}

/** How much of a name is selected at first: that of a file without its extension. */
export function stemLength(entry: Pick<Entry, "type" | "name">): number {
  const dot = entry.name.lastIndexOf(".");
  return entry.type === "file" && dot > 0 ? dot : entry.name.length;
}
