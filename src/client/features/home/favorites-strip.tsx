import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { MouseEvent } from "react";
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { keys, live } from "../../api/queries.ts";
import type { Entry } from "../../api/types.ts";
import { useSteppedOverlay } from "../../base/overlays.ts";
import { useDropFolder } from "../../entries/collection/use-entry-drag.ts";
import { Thumbnail } from "../../entries/collection/thumbnail.tsx";
import { folderParam } from "../../entries/folder-address.ts";
import { cx } from "../../ui/cx.ts";
import { text } from "./text.ts";

/** A favorite; `share` names the share that its paths are below. */
type Favorite = Entry & { readonly share?: string };

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

/** Favorite folders and files in a row. Entries of the list can be dropped on own folders. */
export function FavoritesStrip({ favorites }: { readonly favorites: readonly Favorite[] }) {
  if (favorites.length === 0) return null;
  return (
    <section aria-labelledby="home-favorites" className="mb-3 shrink-0">
      <div className="mb-1 flex items-baseline justify-between gap-3">
        <h2 id="home-favorites" className="text-base font-semibold">
          {text.favorites}
        </h2>
        <Link to="/favorites" className="control inline-flex items-center text-sm text-accent">
          {text.allFavorites}
        </Link>
      </div>
      <ul className="-mx-1 flex gap-2 overflow-x-auto p-1">
        {favorites.map((favorite) => (
          <li key={favorite.id} className="shrink-0">
            <FavoriteCard favorite={favorite} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function FavoriteCard({ favorite }: { readonly favorite: Favorite }) {
  const { open } = useSteppedOverlay("view");
  const isOwnFolder = favorite.type === "folder" && favorite.share === undefined;
  const { isOver, handlers } = useDropFolder(isOwnFolder ? { folder: favorite.path } : undefined);
  const showFile = (event: MouseEvent) => {
    if (favorite.type === "folder" || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(favorite.id);
  };
  return (
    <Link
      {...linkTo(favorite)}
      onClick={showFile}
      {...handlers}
      draggable={false}
      className={cx(
        "flex h-14 w-48 items-center gap-3 rounded-xl border border-line px-3 text-sm text-ink no-underline hover:bg-sunken",
        isOver && "bg-accent-soft ring-2 ring-accent",
      )}
    >
      <Thumbnail entry={favorite} size="small" />
      <span className="min-w-0 flex-1 truncate font-medium" title={favorite.name}>
        <bdi>{favorite.name}</bdi>
      </span>
    </Link>
  );
}

function linkTo(favorite: Favorite) {
  if (favorite.type === "file") return { to: "/home", search: { view: favorite.id } } as const;
  if (favorite.share !== undefined) {
    return { to: "/shared/with-me", search: { share: favorite.share, path: favorite.path } } as const;
  }
  return { to: "/files/$", params: { _splat: folderParam(favorite.path) } } as const;
}
