import { useInfiniteQuery } from "@tanstack/react-query";
import { ChevronRight } from "../../ui/icons.ts";
import { type KeyboardEvent, useState } from "react";
import { messageOf, request } from "../../api/http.ts";
import { keys, byPage } from "../../api/queries.ts";
import type { FolderRecord, Pagination } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { FileIcon } from "../../ui/file-icon.tsx";
import { uiText } from "../../ui/text.ts";
import { text } from "../text.ts";
import { withMember } from "../../base/sets.ts";

interface TreeState {
  readonly selected: string;
  choose(path: string): void;
  readonly expanded: ReadonlySet<string>;
  toggle(path: string, isOpen: boolean): void;
  /** Whether a folder can't be chosen; the same holds for everything below it. */
  isForbidden(path: string): boolean;
}

/** The account's folders as a tree to choose one from. Each level is loaded when it is opened (ARIA tree). */
export function FolderTree({
  chosen,
  onChoose,
  isForbidden,
}: {
  readonly chosen: string;
  readonly onChoose: (path: string) => void;
  readonly isForbidden: (path: string) => boolean;
}) {
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(() => new Set(pathsAbove(chosen)));
  const state: TreeState = {
    selected: chosen,
    choose: onChoose,
    expanded,
    isForbidden,
    toggle: (path, isOpen) => setExpanded((before) => withMember(before, path, isOpen)),
  };
  return (
    <ul
      role="tree"
      aria-label={text.chooseFolder}
      className="max-h-72 min-h-48 overflow-y-auto rounded-lg border border-line p-1"
      onKeyDown={(event) => moveInTree(event, state)}
    >
      <TreeFolder path="/" name={text.home} level={1} state={state} />
    </ul>
  );
}

function TreeFolder({
  path,
  name,
  level,
  state,
}: {
  readonly path: string;
  readonly name: string;
  readonly level: number;
  readonly state: TreeState;
}) {
  const isOpen = state.expanded.has(path);
  const isSelected = state.selected === path;
  const isForbidden = state.isForbidden(path);
  return (
    <li
      role="treeitem"
      aria-level={level}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      aria-disabled={isForbidden}
      // The root is a tab stop too, because the selected folder may not be loaded yet, or be in a closed folder.
      tabIndex={isSelected || level === 1 ? 0 : -1}
      data-path={path}
      className="rounded-md outline-offset-[-2px]"
      onClick={(event) => {
        event.stopPropagation();
        if (!isForbidden) state.choose(path);
      }}
      onDoubleClick={(event) => {
        event.stopPropagation();
        state.toggle(path, !isOpen);
      }}
    >
      <div
        style={{ paddingInlineStart: `${(level - 1) * 1.25}rem` }}
        className={cx(
          "control flex items-center gap-1.5 rounded-md pe-2 text-sm",
          isSelected ? "bg-accent-soft" : "hover:bg-sunken",
          isForbidden && "opacity-50",
        )}
      >
        {/* Only for pointers; with keys, the arrows do the same. */}
        <span
          aria-hidden="true"
          className="grid size-7 shrink-0 place-items-center rounded hover:bg-raised pointer-coarse:size-10"
          onClick={(event) => {
            event.stopPropagation();
            state.toggle(path, !isOpen);
          }}
        >
          <ChevronRight className={cx("size-4 rtl:rotate-180", isOpen && "rotate-90 rtl:rotate-90")} />
        </span>
        <FileIcon mimeType="folder" size={20} />
        <span className="truncate" dir="auto">
          {name}
        </span>
      </div>
      {isOpen && <TreeLevel path={path} level={level + 1} state={state} />}
    </li>
  );
}

function TreeLevel({
  path,
  level,
  state,
}: {
  readonly path: string;
  readonly level: number;
  readonly state: TreeState;
}) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isPending } = useInfiniteQuery({
    queryKey: keys.listing(path, "folders"),
    queryFn: ({ pageParam, signal }) =>
      request<{ files: FolderRecord[]; pagination: Pagination }>("GET", "/api/files", {
        query: { folder: path, type: "folder", limit: 100, page: pageParam },
        signal,
      }),
    ...byPage,
  });
  const folders = data?.pages.flatMap(({ files }) => files) ?? [];
  const indent = { paddingInlineStart: `${(level - 1) * 1.25 + 0.5}rem` };
  if (data === undefined && error !== null) {
    return (
      <p role="alert" className="py-1.5 pe-2 text-xs text-danger" style={indent}>
        {messageOf(error)}{" "}
        <button
          type="button"
          className="control text-sm text-accent underline"
          onClick={(event) => {
            event.stopPropagation();
            void refetch();
          }}
        >
          {uiText.tryAgain}
        </button>
      </p>
    );
  }
  if (folders.length === 0) {
    return (
      <p className="py-1.5 text-xs text-muted" style={indent}>
        {isPending ? text.loadingEntry : text.noFolders}
      </p>
    );
  }
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the group of a tree
    <ul role="group">
      {folders.map((folder) => (
        <TreeFolder key={folder.id} path={folder.path} name={folder.name} level={level} state={state} />
      ))}
      {hasNextPage && (
        <li role="none">
          <button
            type="button"
            className="control text-sm text-accent underline"
            style={indent}
            onClick={(event) => {
              event.stopPropagation();
              void fetchNextPage();
            }}
          >
            {text.moreFolders}
          </button>
        </li>
      )}
    </ul>
  );
}

function moveInTree(event: KeyboardEvent<HTMLElement>, state: TreeState): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const current = event.target instanceof Element ? event.target.closest<HTMLElement>('[role="treeitem"]') : null;
  const at = current === null ? -1 : items.indexOf(current);
  const path = current?.dataset["path"];
  if (path === undefined) return;
  const isOpen = state.expanded.has(path);
  const isRightToLeft = getComputedStyle(event.currentTarget).direction === "rtl";
  const [inward, outward] = isRightToLeft ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
  const goTo = (item: HTMLElement | undefined) => {
    if (item === undefined) return;
    item.focus();
    const to = item.dataset["path"];
    if (to !== undefined && !state.isForbidden(to)) state.choose(to);
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowDown: () => goTo(items[at + 1]),
    ArrowUp: () => goTo(items[at - 1]),
    Home: () => goTo(items[0]),
    End: () => goTo(items.at(-1)),
    [inward ?? ""]: () => (isOpen ? goTo(items[at + 1]) : state.toggle(path, true)),
    [outward ?? ""]: () =>
      isOpen
        ? state.toggle(path, false)
        : goTo(current?.parentElement?.closest<HTMLElement>('[role="treeitem"]') ?? undefined),
  };
  const action = actions[event.key];
  if (action === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}

/** A folder and all its parents: `/a/b` → `/`, `/a`, `/a/b`. */
function pathsAbove(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "");
  return ["/", ...names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`)];
}
