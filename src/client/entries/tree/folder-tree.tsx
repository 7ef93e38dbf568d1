import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { messageOf } from "../../api/http.ts";
import { withMember } from "../../base/sets.ts";
import { cx } from "../../ui/cx.ts";
import { FileIcon } from "../../ui/file-icon.tsx";
import { ChevronRight } from "../../ui/icons.ts";
import { uiText } from "../../ui/text.ts";
import { parentOf } from "../folder-address.ts";
import { text } from "../text.ts";
import { pathsAbove, type TreeRoot, type TreeRow, useTreeRows } from "./rows.ts";
import { useTreeDrop } from "./use-tree-drop.ts";
import { useTreeKeys } from "./use-tree-keys.ts";

type FolderRow = Extract<TreeRow, { kind: "folder" }>;

/** Props of {@link FolderTree}. */
export interface FolderTreeProps {
  readonly label: string;
  /** What the folders are below; by default the own root folder. */
  readonly root?: TreeRoot | undefined;
  readonly chosen: string;
  readonly onChoose: (path: string) => void;
  /** Whether a folder can't be chosen; the same holds for everything below it. */
  readonly isForbidden?: (path: string) => boolean;
  /** Whether the root folder has a row. */
  readonly hasRoot?: boolean;
  /** Whether moving to a folder by key chooses it, as in a dialog with a button. */
  readonly choosesByFocus?: boolean;
  /** Folders that were open before. */
  readonly openBefore?: readonly string[];
  readonly onOpened?: (paths: ReadonlySet<string>) => void;
  /** Whether entries can be dropped on folders. */
  readonly takesDrops?: boolean;
  readonly onDropFiles?: (path: string, transfer: DataTransfer) => void;
  readonly className?: string;
}

/** Props of a tree in a dialog with a button for the chosen folder. */
export const IN_DIALOG = {
  get label() {
    return text.chooseFolder;
  },
  choosesByFocus: true,
  className: "h-72 rounded-lg border border-line p-1",
} as const;

/** Folders of a level that are loaded to show the chosen one. */
const SEARCHED_MAX = 2_000;
/** Rows rendered above and below the visible ones. */
const OVERSCAN = 8;

/** The folders of the account, or of what others share with it, as a tree. Levels are loaded when they are opened, and only the visible rows are rendered. */
export function FolderTree(props: FolderTreeProps) {
  const { chosen, onChoose, isForbidden = () => false, hasRoot = true, choosesByFocus = false } = props;
  const { expanded, toggle } = useExpanded(props);
  const { rows, loadMore, retry } = useTreeRows(expanded, hasRoot, props.root);
  const [focused, setFocused] = useState(chosen);
  const isLoaded = rows.some(({ kind, path }) => kind === "folder" && path === focused);
  const active = isLoaded ? focused : (firstPath(rows) ?? "");
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = window.matchMedia("(pointer: coarse)").matches ? 44 : 34;
  const { first, last, showRow } = useWindow(scroller, rows.length, rowHeight);
  const wantsFocus = useRef(false);

  const choose = (path: string) => {
    setFocused(path);
    if (!isForbidden(path)) onChoose(path);
  };
  const goTo = (path: string) => {
    setFocused(path);
    wantsFocus.current = true;
    showRow(rows.findIndex((row) => row.kind === "folder" && row.path === path));
    if (choosesByFocus && !isForbidden(path)) onChoose(path);
  };
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    scroller.current?.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]')?.focus({ preventScroll: true });
  });
  useSearched(rows, chosen, loadMore);
  // When another folder is opened elsewhere, its row comes into view as soon as it is loaded.
  const chosenIndex = rows.findIndex((row) => row.kind === "folder" && row.path === chosen);
  const shownFor = useRef<string>(undefined);
  useEffect(() => {
    if (shownFor.current === chosen || chosenIndex < 0) return;
    shownFor.current = chosen;
    setFocused(chosen);
    showRow(chosenIndex);
    // A dialog focuses the first row, because the others are loaded later.
    wantsFocus.current = scroller.current?.contains(document.activeElement) === true;
    // oxlint-disable-next-line react/exhaustive-deps -- once for each chosen folder
  }, [chosen, chosenIndex]);
  const onKeyDown = useTreeKeys({ rows, active, goTo, toggle, choose });
  const drop = useTreeDrop({
    isEnabled: props.takesDrops === true,
    onDropFiles: props.onDropFiles,
    open: (path) => toggle(path, true),
  });
  const view = { chosen, active, over: drop.over, isForbidden, choose, toggle, loadMore, retry };
  return (
    <div ref={scroller} className={cx("relative overflow-auto", props.className)} {...drop.handlers}>
      <div
        // A tree must have items.
        {...(active !== "" && { role: "tree", "aria-label": props.label })}
        onKeyDown={onKeyDown}
        className="relative"
        style={{ height: rows.length * rowHeight }}
      >
        {rows.map((row, index) => {
          const isActive = row.kind === "folder" && row.path === active;
          if ((index < first || index > last) && !isActive) return null;
          const box = { height: rowHeight, transform: `translateY(${index * rowHeight}px)` };
          return <TreeLine key={`${row.kind} ${row.path}`} row={row} box={box} {...view} />;
        })}
      </div>
    </div>
  );
}

function firstPath(rows: readonly TreeRow[]): string | undefined {
  return rows.find(({ kind }) => kind === "folder")?.path;
}

/** The open folders. Those above the chosen folder open with it. */
function useExpanded({ chosen, openBefore = [], onOpened, hasRoot = true }: FolderTreeProps) {
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(
    () => new Set([...openBefore, ...(hasRoot ? pathsAbove(chosen) : pathsAbove(chosen).slice(0, -1)), "/"]),
  );
  const [followed, setFollowed] = useState(chosen);
  if (followed !== chosen) {
    setFollowed(chosen);
    setExpanded((before) => new Set([...before, ...pathsAbove(chosen).slice(0, -1)]));
  }
  useEffect(() => onOpened?.(expanded), [expanded, onOpened]);
  const toggle = (path: string, isOpen: boolean) => setExpanded((before) => withMember(before, path, isOpen));
  return { expanded, toggle };
}

/** Loads more of a level that has the chosen folder on a later page. */
function useSearched(rows: readonly TreeRow[], chosen: string, loadMore: (path: string) => void): void {
  const isKnown = rows.some((row) => row.kind === "folder" && row.path === chosen);
  const more = isKnown ? undefined : rows.find((row) => row.kind === "more" && row.path === parentOf(chosen));
  const shown = more?.kind === "more" && more.shown < SEARCHED_MAX ? more.shown : undefined;
  const path = more?.path;
  useEffect(() => {
    if (shown !== undefined && path !== undefined) loadMore(path);
    // oxlint-disable-next-line react/exhaustive-deps -- once for each page
  }, [shown, path]);
}

/** Which rows are visible, and how to scroll to one. */
function useWindow(scroller: { readonly current: HTMLElement | null }, count: number, rowHeight: number) {
  const [span, setSpan] = useState({ first: 0, last: 30 });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = () => {
      const first = Math.floor(element.scrollTop / rowHeight) - OVERSCAN;
      const last = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + OVERSCAN;
      setSpan((before) => (before.first === first && before.last === last ? before : { first, last }));
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, [scroller, rowHeight, count]);
  const showRow = (index: number) => {
    const element = scroller.current;
    if (element === null || index < 0) return;
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight;
    }
  };
  return { ...span, showRow };
}

interface LineProps {
  readonly row: TreeRow;
  readonly box: { readonly height: number; readonly transform: string };
  readonly chosen: string;
  readonly active: string;
  readonly over: string | undefined;
  isForbidden(path: string): boolean;
  choose(path: string): void;
  toggle(path: string, isOpen: boolean): void;
  loadMore(path: string): void;
  retry(path: string): void;
}

function TreeLine(props: LineProps) {
  const { row, box, loadMore, retry } = props;
  const style = { ...box, paddingInlineStart: `${(row.level - 1) * 1 + 0.25}rem` };
  if (row.kind === "folder") return <FolderLine {...props} row={row} style={style} />;
  const isFailed = row.kind === "failed";
  return (
    <div role="none" className="absolute inset-x-0 top-0 flex items-center gap-2 ps-2 text-xs text-muted" style={style}>
      <span className="w-6 shrink-0" />
      {row.kind === "empty" && (row.level === 1 ? text.noFolders : text.noSubfolders)}
      {row.kind === "loading" && text.loadingEntry}
      {row.kind === "more" && (
        <More key={row.shown} onVisible={() => loadMore(row.path)}>
          {text.loadingEntry}
        </More>
      )}
      {isFailed && (
        <>
          <span role="alert" className="truncate text-danger">
            {messageOf(row.error)}
          </span>
          <button type="button" className="text-accent underline" onClick={() => retry(row.path)}>
            {uiText.tryAgain}
          </button>
        </>
      )}
    </div>
  );
}

/** Loads more folders as soon as it is rendered, which is shortly before it is visible. */
function More({ onVisible, children }: { readonly onVisible: () => void; readonly children: ReactNode }) {
  useEffect(onVisible, []); // oxlint-disable-line react/exhaustive-deps -- once
  return children;
}

function FolderLine({
  row: { path, name, level, isOpen, position, siblings },
  style,
  chosen,
  active,
  over,
  isForbidden,
  choose,
  toggle,
}: Omit<LineProps, "row"> & { readonly row: FolderRow; readonly style: Readonly<Record<string, string | number>> }) {
  const isSelected = chosen === path;
  return (
    <div
      role="treeitem"
      aria-level={level}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      aria-disabled={isForbidden(path)}
      aria-posinset={position}
      aria-setsize={siblings}
      tabIndex={path === active ? 0 : -1}
      data-path={path}
      title={name}
      style={style}
      className={cx(
        "absolute inset-x-0 top-0 flex cursor-default items-center gap-1 rounded-md pe-2 text-sm outline-offset-[-2px]",
        isSelected ? "bg-accent-soft text-accent" : "hover:bg-sunken",
        over === path && "bg-accent-soft ring-2 ring-accent ring-inset",
        isForbidden(path) && "opacity-50",
      )}
      onClick={() => choose(path)}
      onDoubleClick={() => toggle(path, !isOpen)}
    >
      {/* Only for pointers; with keys, the arrows do the same. */}
      <span
        aria-hidden="true"
        data-part="toggle"
        className="grid size-6 shrink-0 place-items-center rounded hover:bg-raised pointer-coarse:size-10"
        onClick={(event) => {
          event.stopPropagation();
          toggle(path, !isOpen);
        }}
        onDoubleClick={(event) => event.stopPropagation()}
      >
        <ChevronRight className={cx("size-4 rtl:rotate-180", isOpen && "rotate-90 rtl:rotate-90")} />
      </span>
      <FileIcon mimeType="folder" size={18} />
      <span className="truncate">
        <bdi>{name}</bdi>
      </span>
    </div>
  );
}
