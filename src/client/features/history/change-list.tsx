import type { ReactNode } from "react";
import { text } from "./text.ts";

/** The planned changes of a restore or undo: the path of each item, and what happens to it. */
export function ChangeList({
  changes,
}: {
  readonly changes: readonly { readonly key: string; readonly path: string; readonly label: ReactNode }[];
}) {
  if (changes.length === 0) return null;
  return (
    <ul
      aria-label={text.planList}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolled list must be reachable by keyboard
      tabIndex={0}
      className="max-h-64 divide-y divide-line overflow-y-auto rounded-lg border border-line text-sm"
    >
      {changes.map(({ key, path, label }) => (
        <li key={key} className="flex flex-wrap justify-between gap-x-4 px-3 py-2">
          <span className="min-w-0 break-words">{path}</span>
          <span className="text-muted">{label}</span>
        </li>
      ))}
    </ul>
  );
}

/** The items that can't be restored, each with the reason. */
export function SkippedList({
  items,
}: {
  readonly items: readonly { readonly key: string; readonly name: string; readonly message: string }[];
}) {
  if (items.length === 0) return null;
  return (
    <div className="text-sm">
      <h3 className="font-medium">{text.skippedTitle}</h3>
      <ul className="mt-1 flex flex-col gap-1">
        {items.map(({ key, name, message }) => (
          <li key={key}>
            <span className="break-words">{name}</span>: <span className="text-muted">{message}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The path of an item. */
export function pathOf(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}
