import { type FormEvent, type KeyboardEvent, type RefObject, useLayoutEffect, useRef } from "react";
import { messageOf } from "../../api/http.ts";
import type { Entry } from "../../api/types.ts";
import { Star } from "../../ui/icons.ts";
import { useStore } from "../../base/store.ts";
import { text } from "../text.ts";
import type { GridDisplay, NameDraft, Renaming } from "./grid-types.ts";

/** The name of an entry, or the field to rename it. */
export function EntryName<T extends Entry>({
  entry,
  display,
  hasStar = true,
}: {
  readonly entry: T;
  readonly display: Pick<GridDisplay<T>, "nameOf" | "renaming">;
  /** Whether the name is followed by the star of a favorite. */
  readonly hasStar?: boolean;
}) {
  if (display.renaming?.id === entry.id) return <RenameField entry={entry} renaming={display.renaming} />;
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <span className="block min-w-0 truncate" title={entry.name}>
        {/* Isolated, so that a name in another direction stays at its place. */}
        <bdi>{display.nameOf?.(entry) ?? entry.name}</bdi>
      </span>
      {hasStar && <FavoriteStar entry={entry} />}
    </span>
  );
}

/** The star of a favorite; nothing for other entries. */
export function FavoriteStar({ entry }: { readonly entry: Entry }) {
  if (entry.isFavorite !== true) return null;
  return <Star role="img" aria-label={text.isFavorite} className="size-3.5 shrink-0 fill-current text-warning" />;
}

/** Enter or removing the field saves, Escape cancels. A rejected name keeps the field open with the error below. */
function RenameField({ entry, renaming }: { readonly entry: Entry; readonly renaming: Renaming }) {
  const { draft } = renaming;
  const { before, name, phase, error } = useStore(draft);
  const field = useRef<HTMLInputElement>(null);
  const errorId = `rename-error-${entry.id}`;
  useRestoredFocus(field, entry, draft);

  const change = (changes: Partial<NameDraft>) => draft.update((now) => ({ ...now, ...changes }));
  const end = () => {
    change({ phase: "over" });
    renaming.end();
  };
  const save = async () => {
    if (draft.get().phase !== "typing") return;
    const newName = name.trim();
    if (newName === before || newName === entry.name) return end();
    if (newName === "") return change({ error: text.nameMissing });
    change({ phase: "saving" });
    try {
      await renaming.save(entry, newName);
      end();
    } catch (failure) {
      change({ phase: "typing", error: messageOf(failure) });
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // The list's shortcuts must not apply while a name is typed.
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
      className="relative min-w-0 flex-1"
    >
      <input
        ref={field}
        aria-label={text.newName}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : errorId}
        value={name}
        readOnly={phase === "saving"}
        onChange={(event) => change({ name: event.target.value, error: undefined })}
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

/** Focuses the field, and restores focus and caret if its row was removed and rendered again in the meantime. */
function useRestoredFocus(ref: RefObject<HTMLInputElement | null>, entry: Entry, draft: Renaming["draft"]): void {
  useLayoutEffect(() => {
    const field = ref.current;
    if (field === null) return undefined;
    const { caret } = draft.get();
    // Does not take the focus back from something else that the person focused.
    if (caret === undefined || document.activeElement === document.body) {
      field.focus({ preventScroll: true });
      field.setSelectionRange(caret?.start ?? 0, caret?.end ?? stemLength(entry), caret?.direction ?? "none");
    }
    return () => {
      const { selectionStart, selectionEnd, selectionDirection } = field;
      const last = { start: selectionStart ?? 0, end: selectionEnd ?? 0, direction: selectionDirection ?? "none" };
      draft.update((now) => ({ ...now, caret: last }));
    };
  }, [ref, entry, draft]);
}

/** The initial state of renaming an entry. */
export function newDraft({ name }: Entry): NameDraft {
  return { before: name, name, phase: "typing" };
}

/** How many characters are selected at first: of a file, the name without its extension. */
function stemLength(entry: Pick<Entry, "type" | "name">): number {
  const dot = entry.name.lastIndexOf(".");
  return entry.type === "file" && dot > 0 ? dot : entry.name.length;
}
