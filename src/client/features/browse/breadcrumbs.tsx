import { Link } from "@tanstack/react-router";
import { ChevronRight } from "../../ui/icons.ts";
import { cx } from "../../ui/cx.ts";
import { Menu } from "../../ui/menu.tsx";
import { useDropFolder } from "../../entries/collection/use-entry-drag.ts";
import { folderParam, useGoToFolder } from "../../entries/folder-address.ts";
import { text } from "../../entries/text.ts";

/** How many parents are shown, the nearest ones; a menu has the others. On phones only the nearest one is shown. */
const SHOWN_MAX = 4;

/** The folders above a folder, as a path that ends at its title. Entries of the list can be dropped on each. */
export function Breadcrumbs({ folder }: { readonly folder: string }) {
  const goToFolder = useGoToFolder();
  const names = folder.split("/").filter((name) => name !== "");
  const above = [
    { path: "/", name: text.home },
    ...names.slice(0, -1).map((name, index) => ({ path: `/${names.slice(0, index + 1).join("/")}`, name })),
  ];
  const hidden = above.slice(0, -SHOWN_MAX);
  const shown = above.slice(-SHOWN_MAX);
  const itemsFor = (folders: typeof above) =>
    folders.map(({ path, name }) => ({ label: name, run: () => goToFolder(path) }));
  return (
    <nav aria-label={text.pathLabel} className="-ms-1.5 me-1.5 min-w-0 shrink-[4]">
      <ol className="flex min-w-0 items-center whitespace-nowrap">
        {hidden.length > 0 && <Hidden className="max-sm:hidden" items={itemsFor(hidden)} />}
        {above.length > 1 && <Hidden className="sm:hidden" items={itemsFor(above.slice(0, -1))} />}
        {shown.map(({ path, name }, index) => (
          <li key={path} className={cx("flex min-w-0 items-center", index < shown.length - 1 && "max-sm:hidden")}>
            <Breadcrumb path={path} name={name} />
            <Chevron />
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Chevron() {
  return <ChevronRight aria-hidden className="size-4 shrink-0 text-muted rtl:rotate-180" />;
}

/** A menu of the folders that have no room. */
function Hidden({
  items,
  className,
}: {
  readonly items: readonly { readonly label: string; readonly run: () => void }[];
  readonly className: string;
}) {
  return (
    <li className={cx("flex shrink-0 items-center", className)}>
      <Menu
        label={text.moreParents}
        items={items}
        trigger={
          <button type="button" aria-label={text.moreParents} className={CRUMB}>
            …
          </button>
        }
      />
      <Chevron />
    </li>
  );
}

const CRUMB =
  "inline-flex min-h-8 min-w-8 items-center rounded-md px-1.5 text-muted no-underline hover:bg-sunken hover:text-ink";

function Breadcrumb({ path, name }: { readonly path: string; readonly name: string }) {
  const { isOver, handlers } = useDropFolder(path);
  const className = cx(CRUMB, "min-w-0 max-w-60", isOver && "bg-accent-soft ring-2 ring-accent");
  const label = (
    <span className="truncate">
      <bdi>{name}</bdi>
    </span>
  );
  return path === "/" ? (
    <Link to="/files" className={className} {...handlers}>
      {label}
    </Link>
  ) : (
    <Link to="/files/$" params={{ _splat: folderParam(path) }} className={className} {...handlers}>
      {label}
    </Link>
  );
}
