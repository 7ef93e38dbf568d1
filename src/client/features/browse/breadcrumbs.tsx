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
  // Phones have room for two names.
  const hidden = folders.slice(0, -2);
  const nearest = hidden.at(-1);
  const list = useRef<HTMLOListElement>(null);
  // If there is no room for all, scrolls to the nearest ones.
  useEffect(() => {
    // In braces, because newer browsers return a promise here, and an effect may only return a function.
    list.current?.lastElementChild?.scrollIntoView({ inline: "end", block: "nearest" });
  }, [folder]);
  return (
    <nav aria-label={text.pathLabel} className="-mx-1 min-w-0 overflow-x-auto py-1">
      <ol ref={list} className="flex items-center text-sm whitespace-nowrap">
        {nearest !== undefined && (
          <li className="sm:hidden">
            <Breadcrumb path={nearest.path} name={nearest.name} isCurrent={false} isShort />
          </li>
        )}
        {folders.map(({ path, name }, index) => (
          <li key={path} className={cx("flex min-w-0 items-center", index < hidden.length && "max-sm:hidden")}>
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
  isShort = false,
}: {
  readonly path: string;
  readonly name: string;
  readonly isCurrent: boolean;
  /** Shows "…" instead of the name. */
  readonly isShort?: boolean;
}) {
  const { isOver, handlers } = useDropFolder(isCurrent ? undefined : path);
  const shared = cx(
    "block min-h-8 rounded-md px-1.5 leading-8 max-sm:max-w-[40vw] max-sm:truncate",
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
  const label = isShort ? { "aria-label": name } : {};
  const content = isShort ? "…" : name;
  return path === "/" ? (
    <Link to="/files" className={className} {...label} {...handlers}>
      {content}
    </Link>
  ) : (
    <Link
      to="/files/$"
      params={{ _splat: folderParam(path) }}
      className={className}
      dir="auto"
      {...label}
      {...handlers}
    >
      {content}
    </Link>
  );
}
