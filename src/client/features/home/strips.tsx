import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { type MouseEvent, type ReactNode, useId } from "react";
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys, live } from "../../api/queries.ts";
import type { Entry } from "../../api/types.ts";
import { useSteppedOverlay } from "../../base/overlays.ts";
import type { Destination } from "../../entries/actions/bulk.ts";
import { useDropFolder } from "../../entries/collection/entry-drop.ts";
import { Thumbnail } from "../../entries/collection/thumbnail.tsx";
import { folderParam } from "../../entries/folder-address.ts";
import { type Pin, pinsQuery } from "../../entries/pins/api.ts";
import { dropFolderOf, iconOf, linkTo as linkToPin } from "../../entries/pins/link.ts";
import type { PermittedEntry } from "../../entries/sharing/received-rights.ts";
import { cx } from "../../ui/cx.ts";
import { text } from "./text.ts";

/** A favorite of the person. */
export type Favorite = Entry & PermittedEntry;

/** More of them are on the page of favorites. */
const SHOWN_MAX = 12;

/** The first favorites: undefined until they are loaded. */
export function useFirstFavorites(): readonly Favorite[] | undefined {
  const { data } = useQuery({
    queryKey: [...keys.favorites, "first"],
    queryFn: ({ signal }) =>
      request<Omit<ResponseData["GET /api/favorites"], "favorites"> & { readonly favorites: readonly Favorite[] }>(
        "GET",
        "/api/favorites",
        { query: { sort: "natural", order: "asc", limit: SHOWN_MAX }, signal },
      ),
    ...live,
  });
  return data?.favorites;
}

/** The pinned folders and albums: undefined until they are loaded. */
export function usePins(): readonly Pin[] | undefined {
  return useQuery(pinsQuery).data;
}

/** Pinned folders and albums in a row. */
export function PinsStrip({ pins }: { readonly pins: readonly Pin[] }) {
  if (pins.length === 0) return null;
  return (
    <Strip title={text.pinned}>
      {pins.map((pin) => {
        const Icon = iconOf(pin);
        const icon = <Icon aria-hidden className="size-6 shrink-0 text-muted" />;
        return <Card key={pin.id} name={pin.name} icon={icon} link={linkToPin(pin)} dropFolder={dropFolderOf(pin)} />;
      })}
    </Strip>
  );
}

/** Favorite folders and files in a row. */
export function FavoritesStrip({ favorites }: { readonly favorites: readonly Favorite[] }) {
  const { open } = useSteppedOverlay("view");
  if (favorites.length === 0) return null;
  return (
    <Strip title={text.favorites} all={{ to: "/favorites", label: text.allFavorites }}>
      {favorites.map((favorite) => (
        <Card
          key={favorite.id}
          name={favorite.name}
          icon={<Thumbnail entry={favorite} size="small" />}
          link={linkToFavorite(favorite)}
          dropFolder={
            favorite.type === "folder" && favorite.share === undefined ? { folder: favorite.path } : undefined
          }
          preview={favorite.type === "file" ? () => open(favorite.id) : undefined}
        />
      ))}
    </Strip>
  );
}

/** Cards in a row, with a link to all of them. */
export function Strip({
  title,
  all,
  children,
}: {
  readonly title: string;
  readonly all?: { readonly to: "/favorites" | "/shared/with-me"; readonly label: string };
  readonly children: readonly ReactNode[];
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="mb-3 shrink-0">
      <div className="mb-1 flex items-baseline justify-between gap-3">
        <h2 id={id} className="text-base font-semibold">
          {title}
        </h2>
        {all !== undefined && (
          <Link to={all.to} className="control inline-flex items-center text-sm text-accent">
            {all.label}
          </Link>
        )}
      </div>
      <ul className="-mx-1 flex gap-2 overflow-x-auto p-1">{children}</ul>
    </section>
  );
}

/** A link to an item. Entries of the list can be dropped on own folders. */
export function Card({
  name,
  detail,
  icon,
  link,
  dropFolder,
  preview,
}: {
  readonly name: string;
  /** A second line. */
  readonly detail?: string;
  readonly icon: ReactNode;
  readonly link: Pick<LinkProps, "to" | "params" | "search">;
  readonly dropFolder?: Destination | undefined;
  /** Shows a file; by default, the link is followed. */
  readonly preview?: (() => void) | undefined;
}) {
  const { isOver, handlers } = useDropFolder(dropFolder);
  const onClick = (event: MouseEvent) => {
    if (preview === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    preview();
  };
  return (
    <li className="shrink-0">
      <Link
        {...link}
        onClick={onClick}
        {...handlers}
        draggable={false}
        className={cx(
          "flex h-14 w-48 items-center gap-3 rounded-xl border border-line px-3 text-sm text-ink no-underline hover:bg-sunken",
          isOver && "bg-accent-soft ring-2 ring-accent",
        )}
      >
        {icon}
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium" title={name}>
            <bdi>{name}</bdi>
          </span>
          {detail !== undefined && <span className="block truncate text-xs text-muted">{detail}</span>}
        </span>
      </Link>
    </li>
  );
}

function linkToFavorite(favorite: Favorite): Pick<LinkProps, "to" | "params" | "search"> {
  if (favorite.type === "file") return { to: "/home", search: { view: favorite.id } };
  if (favorite.share !== undefined) {
    return { to: "/shared/with-me", search: { share: favorite.share, path: favorite.path } };
  }
  return { to: "/files/$", params: { _splat: folderParam(favorite.path) } };
}
