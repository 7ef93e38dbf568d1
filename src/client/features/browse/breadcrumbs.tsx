import { Link } from "@tanstack/react-router";
import { ChevronRight } from "../../ui/icons.ts";
import { useEffect, useRef } from "react";
import { cx } from "../../ui/cx.ts";
import { useDropFolder } from "../../entries/collection/use-entry-drag.ts";
import { folderParam } from "../../entries/folder-address.ts";
import { text } from "../../entries/text.ts";

/** The path of a folder. Entries of the list can be dropped on each parent folder. */
export function Breadcrumbs({ folder }: { readonly folder: string }) {
  const names = folder.split("/").filter((name) => name !== "");
  const folders = [
    { path: "/", name: text.home },
    ...names.map((name, index) => ({ path: `/${names.slice(0, index + 1).join("/")}`, name })),
  ];
  const list = useRef<HTMLOListElement>(null);
  // If there is no room for all, scrolls to the nearest ones.
  useEffect(() => {
    // In braces, because newer browsers return a promise here, and an effect may only return a function.
    list.current?.lastElementChild?.scrollIntoView({ inline: "end", block: "nearest" });
  }, [folder]);
  return (
    <nav aria-label={text.pathLabel} className="-mx-1 min-w-0 overflow-x-auto py-1">
      <ol ref={list} className="flex items-center text-sm whitespace-nowrap">
        {folders.map(({ path, name }, index) => (
          <li key={path} className="flex items-center">
            {index > 0 && <ChevronRight aria-hidden className="size-4 shrink-0 text-muted rtl:rotate-180" />}
            <Breadcrumb path={path} name={name} isCurrent={index === folders.length - 1} />
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Breadcrumb({
  path,
  name,
  isCurrent,
}: {
  readonly path: string;
  readonly name: string;
  readonly isCurrent: boolean;
}) {
  const { isOver, handlers } = useDropFolder(isCurrent ? undefined : path);
  const shared = cx(
    "inline-flex min-h-8 items-center rounded-md px-1.5",
    isOver && "bg-accent-soft ring-2 ring-accent",
  );
  if (isCurrent) {
    return (
      <span aria-current="page" className={cx(shared, "text-muted")} dir="auto">
        {name}
      </span>
    );
  }
  const className = cx(shared, "text-ink no-underline hover:bg-sunken");
  return path === "/" ? (
    <Link to="/files" className={className} {...handlers}>
      {name}
    </Link>
  ) : (
    <Link to="/files/$" params={{ _splat: folderParam(path) }} className={className} dir="auto" {...handlers}>
      {name}
    </Link>
  );
}
