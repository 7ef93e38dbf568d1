import { useLocation } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { cx } from "../ui/cx.ts";
import { ChevronRight } from "../ui/icons.ts";
import { dropFiles } from "../features/uploads/drop-files.ts";
import { readStored, writeStored } from "../base/stored.ts";
import { FolderTree } from "../entries/tree/folder-tree.tsx";
import { useCurrentFolder, useGoToFolder } from "../entries/folder-address.ts";
import { useCanWrite } from "../api/session.ts";
import { isAt } from "./navigation.ts";
import { frameText } from "./text.ts";

const OPEN_STORED_AS = "folder-tree-open";
const CLOSED_STORED_AS = "folder-tree-closed";
/** More open folders are not remembered: each is a request when the page opens. */
const REMEMBERED_MAX = 20;

/** The person's folders in the side bar. Files can be dropped on them. */
export function FolderSection() {
  const { pathname } = useLocation();
  const folder = useCurrentFolder();
  const goToFolder = useGoToFolder();
  const canWrite = useCanWrite();
  const [isClosed, setClosed] = useState(() => readStored(CLOSED_STORED_AS) !== undefined);
  const [openBefore] = useState(readOpen);
  const toggle = () => {
    writeStored(CLOSED_STORED_AS, isClosed ? undefined : "yes");
    setClosed(!isClosed);
  };
  const remember = useCallback((paths: ReadonlySet<string>) => {
    writeStored(OPEN_STORED_AS, JSON.stringify([...paths].slice(-REMEMBERED_MAX)));
  }, []);
  return (
    <section aria-label={frameText.folders} className="flex min-h-0 flex-col">
      <button
        type="button"
        aria-expanded={!isClosed}
        onClick={toggle}
        className="flex min-h-8 items-center gap-1 rounded-full px-4 text-xs font-semibold text-muted hover:bg-sunken"
      >
        <ChevronRight aria-hidden className={cx("size-4 rtl:rotate-180", !isClosed && "rotate-90 rtl:rotate-90")} />
        {frameText.folders}
      </button>
      {!isClosed && (
        <FolderTree
          label={frameText.folders}
          // On other pages, no folder is the current one.
          chosen={isAt(pathname, "/files") ? folder : ""}
          onChoose={goToFolder}
          hasRoot={false}
          openBefore={openBefore}
          onOpened={remember}
          takesDrops={canWrite}
          onDropFiles={(path, transfer) => dropFiles({ folder: path }, transfer)}
          className="max-h-[40vh] px-1"
        />
      )}
    </section>
  );
}

function readOpen(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(readStored(OPEN_STORED_AS) ?? "[]");
    return Array.isArray(stored) ? stored.filter((path) => typeof path === "string") : [];
  } catch {
    return []; // Not written by this page.
  }
}
