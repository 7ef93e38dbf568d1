import { Link, type LinkProps, useNavigate } from "@tanstack/react-router";
import { ChevronRight } from "../../ui/icons.ts";
import { cx } from "../../ui/cx.ts";
import { Menu } from "../../ui/menu.tsx";
import type { Destination } from "../../entries/actions/bulk.ts";
import { useDropFolder } from "../../entries/collection/entry-drop.ts";
import { folderParam } from "../../entries/folder-address.ts";
import { text } from "../../entries/text.ts";

/** How many parents are shown, the nearest ones; a menu has the others. On phones only the nearest one is shown. */
const SHOWN_MAX = 4;

/** A page in a path. */
export interface Crumb {
  readonly name: string;
  readonly link: LinkProps;
  /** The folder that it stands for, if entries can be dropped on it. */
  readonly folder?: Destination;
}

/** The own folders above a folder. */
export function crumbsAbove(folder: string): Crumb[] {
  const names = folder.split("/").filter((name) => name !== "");
  return [
    { name: text.home, link: { to: "/files" }, folder: { folder: "/" } },
    ...names.slice(0, -1).map((name, index): Crumb => {
      const path = `/${names.slice(0, index + 1).join("/")}`;
      return { name, link: { to: "/files/$", params: { _splat: folderParam(path) } }, folder: { folder: path } };
    }),
  ];
}

/** The pages above a page, as a path that ends at its title. */
export function Breadcrumbs({ crumbs }: { readonly crumbs: readonly Crumb[] }) {
  const navigate = useNavigate();
  const hidden = crumbs.slice(0, -SHOWN_MAX);
  const shown = crumbs.slice(-SHOWN_MAX);
  const itemsFor = (some: readonly Crumb[]) =>
    some.map(({ name, link }) => ({ label: name, run: () => void navigate(link) }));
  return (
    <nav aria-label={text.pathLabel} className="-ms-1.5 me-1.5 min-w-0 shrink-[4]">
      <ol className="flex min-w-0 items-center whitespace-nowrap">
        {hidden.length > 0 && <Hidden className="max-sm:hidden" items={itemsFor(hidden)} />}
        {crumbs.length > 1 && <Hidden className="sm:hidden" items={itemsFor(crumbs.slice(0, -1))} />}
        {shown.map((crumb, index) => (
          <li
            key={crumbs.length - shown.length + index}
            className={cx("flex min-w-0 items-center", index < shown.length - 1 && "max-sm:hidden")}
          >
            <Breadcrumb crumb={crumb} />
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
  "reach inline-flex min-h-8 min-w-8 items-center rounded-md px-1.5 text-muted no-underline hover:bg-sunken hover:text-ink";

function Breadcrumb({ crumb: { name, link, folder } }: { readonly crumb: Crumb }) {
  const { isOver, handlers } = useDropFolder(folder);
  return (
    <Link
      {...link}
      className={cx(CRUMB, "min-w-0 max-w-60", isOver && "bg-accent-soft ring-2 ring-accent")}
      {...handlers}
    >
      <span className="truncate">
        <bdi>{name}</bdi>
      </span>
    </Link>
  );
}
