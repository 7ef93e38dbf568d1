import { type ClipboardEvent, type KeyboardEvent, type RefObject, useId, useRef, useState } from "react";
import { announce } from "../base/announce.ts";
import { formatList } from "../base/format.ts";
import { Avatar } from "./avatar.tsx";
import { PersonAvatar } from "./person-avatar.tsx";
import { cx } from "./cx.ts";
import { Field, type FieldFrame } from "./field.tsx";
import { UsersRound, X } from "./icons.ts";
import { chipText } from "./chip-text.ts";

/** A person, a group, or an email address that is chosen. */
export interface Chip {
  readonly id: string;
  readonly name: string;
  readonly kind: "person" | "group" | "email";
  /** A second line in the list of options. */
  readonly detail?: string;
}

/** Props of {@link ChipField}. */
interface ChipFieldProps extends FieldFrame {
  readonly chosen: readonly Chip[];
  readonly typed: string;
  /** Both at once, because taking an option changes both. */
  readonly onChange: (chosen: readonly Chip[], typed: string) => void;
  /** What fits the typed text. */
  readonly options: readonly Chip[];
  /** The chips that a text names completely, such as pasted email addresses. */
  readonly read?: (text: string) => readonly Chip[];
  readonly inputRef?: RefObject<HTMLInputElement | null>;
}

/**
 * A field that completes names and collects what is chosen, as chips before the text. An ARIA combobox: the arrow keys
 * choose an option, Enter takes it, Backspace removes the last chip. If there is nothing to take, Enter submits the form.
 */
export function ChipField(props: ChipFieldProps) {
  const { chosen, typed, onChange, options: _options, read, inputRef, ...frame } = props;
  const listId = useId();
  const ownRef = useRef<HTMLInputElement>(null);
  const input = inputRef ?? ownRef;
  const list = useOptions(props);
  const remove = (chip: Chip) => {
    onChange(
      chosen.filter(({ id }) => id !== chip.id),
      typed,
    );
    announce(chipText.chipRemoved({ name: chip.name }));
    input.current?.focus();
  };
  const paste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData("text");
    const chips = read?.(pasted) ?? [];
    if (chips.length === 0) return;
    event.preventDefault();
    list.take(chips);
  };
  return (
    <Field {...frame}>
      {(ids) => (
        <>
          <div className="field control flex h-auto flex-wrap items-center gap-1.5 focus-within:border-accent">
            <ChipList chips={chosen} onRemove={remove} />
            <input
              {...ids}
              ref={input}
              type="text"
              role="combobox"
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              aria-autocomplete="list"
              aria-expanded={list.shown.length > 0}
              aria-controls={listId}
              {...(list.current !== undefined && { "aria-activedescendant": `${listId}-${list.current.id}` })}
              value={typed}
              onChange={(event) => list.type(event.target.value)}
              onKeyDown={list.onKeyDown}
              onPaste={paste}
              className="min-w-40 flex-1 bg-transparent outline-none"
            />
          </div>
          <ul
            id={listId}
            role="listbox"
            aria-label={frame.label}
            className={cx(list.shown.length === 0 && "hidden", LIST)}
          >
            {list.shown.map((option) => (
              <Option
                key={option.id}
                id={`${listId}-${option.id}`}
                option={option}
                isCurrent={option.id === list.current?.id}
                onTake={() => {
                  list.take([option]);
                  input.current?.focus();
                }}
              />
            ))}
          </ul>
        </>
      )}
    </Field>
  );
}

const LIST = "max-h-60 overflow-y-auto rounded-lg border border-line bg-raised py-1 shadow-lg";

function ChipList({ chips, onRemove }: { readonly chips: readonly Chip[]; readonly onRemove: (chip: Chip) => void }) {
  if (chips.length === 0) return null;
  return (
    <ul aria-label={chipText.chosen} className="contents">
      {chips.map((chip) => (
        <li key={chip.id} className="flex max-w-full items-center gap-1.5 rounded-full bg-sunken ps-1 text-sm">
          <ChipPicture chip={chip} size={22} />
          <bdi className="truncate">{chip.name}</bdi>
          <button
            type="button"
            aria-label={chipText.removeChip({ name: chip.name })}
            onClick={() => onRemove(chip)}
            className="reach inline-flex size-7 shrink-0 items-center justify-center rounded-full hover:bg-line"
          >
            <X aria-hidden size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Option({
  id,
  option,
  isCurrent,
  onTake,
}: {
  readonly id: string;
  readonly option: Chip;
  readonly isCurrent: boolean;
  readonly onTake: () => void;
}) {
  return (
    <li
      id={id}
      role="option"
      aria-selected={isCurrent}
      // The field keeps the focus, and the keyboard of a phone stays open.
      onPointerDown={(event) => event.preventDefault()}
      onClick={onTake}
      className="control flex cursor-pointer items-center gap-3 px-3 text-sm hover:bg-sunken aria-selected:bg-accent-soft"
    >
      <ChipPicture chip={option} size={28} />
      <span className="min-w-0">
        <bdi className="block truncate">{option.name}</bdi>
        {option.detail !== undefined && <span className="block truncate text-muted">{option.detail}</span>}
      </span>
    </li>
  );
}

/** The picture of a person, or a sign for a group. */
export function ChipPicture({ chip: { id, name, kind }, size }: { readonly chip: Chip; readonly size: number }) {
  if (kind === "person") return <PersonAvatar id={id} name={name} size={size} />;
  if (kind === "email") return <Avatar name={name} size={size} />;
  return (
    <span
      className="inline-flex shrink-0 items-center justify-center rounded-full bg-accent-soft text-accent"
      style={{ width: size, height: size }}
    >
      <UsersRound aria-hidden size={size * 0.6} />
    </span>
  );
}

/** The options that are shown, the one that Enter takes, and the keys of the field. */
function useOptions({ chosen, typed, onChange, options, read }: ChipFieldProps) {
  const [position, setPosition] = useState<number>();
  const [isClosed, setIsClosed] = useState(false);
  const free = options.filter((option) => !chosen.some(({ id }) => id === option.id));
  const shown = isClosed || typed.trim() === "" ? [] : free;
  const complete = read?.(typed) ?? [];
  // A complete email address is taken as it is, unless the arrow keys have chosen something else.
  const current = shown[position ?? (complete.length > 0 ? -1 : 0)];
  const change = (next: readonly Chip[], text: string) => {
    setPosition(undefined);
    setIsClosed(false);
    onChange(next, text);
  };
  const take = (chips: readonly Chip[]) => {
    const added = chips.filter((chip) => !chosen.some(({ id }) => id === chip.id));
    change([...chosen, ...added], "");
    announce(chipText.chipsAdded({ names: formatList(added.map(({ name }) => name)) }));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    // Enter ends the composition of a character.
    if (event.nativeEvent.isComposing) return;
    const last = chosen.at(-1);
    if (key === "Backspace" && typed === "" && last !== undefined) {
      onChange(chosen.slice(0, -1), typed);
      announce(chipText.chipRemoved({ name: last.name }));
    } else if (key === "Escape" && shown.length > 0) {
      event.stopPropagation();
      setIsClosed(true);
    } else if ((key === "ArrowDown" || key === "ArrowUp") && free.length > 0 && typed.trim() !== "") {
      event.preventDefault();
      const step = key === "ArrowDown" ? 1 : -1;
      setPosition(((position ?? (complete.length > 0 || isClosed ? -1 : 0)) + step + free.length) % free.length);
      setIsClosed(false);
    } else if ((key === "Enter" || key === "," || key === ";") && typed.trim() !== "") {
      const taken = current === undefined ? complete : [current];
      if (taken.length === 0) return;
      event.preventDefault();
      take(taken);
    }
  };
  return { shown, current, type: (text: string) => change(chosen, text), take, onKeyDown };
}
