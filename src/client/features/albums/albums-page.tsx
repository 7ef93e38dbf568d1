import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { BookImage } from "lucide-react";
import { Suspense, useState } from "react";
import { request } from "../../api/http.ts";
import { useCanWrite } from "../../api/session.ts";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { type Album, type AlbumOrder, albumsQuery, coverAddress, invalidateAlbums } from "../../entries/albums/api.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Plus, Share2 } from "../../ui/icons.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import { LoadedList } from "../../ui/loaded.tsx";
import { Page } from "../../ui/page.tsx";
import { Select } from "../../ui/select.tsx";
import { usePicture } from "../../ui/use-picture.ts";
import type { AlbumDraft } from "./edit-album-dialog.tsx";
import { text } from "./text.ts";

const EditAlbumDialog = lazyPart(() => import("./edit-album-dialog.tsx").then((part) => part.EditAlbumDialog));

const ORDERS: Readonly<Record<AlbumOrder["sort"], AlbumOrder>> = {
  modifiedAt: { sort: "modifiedAt", order: "desc" },
  name: { sort: "name", order: "asc" },
  createdAt: { sort: "createdAt", order: "desc" },
};

/** The albums of the account, with their covers. */
export function AlbumsPage() {
  const { sort } = useTextSearch();
  const setSearch = useSetTextSearch();
  const chosen = sort === "name" || sort === "createdAt" ? sort : "modifiedAt";
  const albums = useQuery(albumsQuery(ORDERS[chosen]));
  const canWrite = useCanWrite();
  const [isCreating, setCreating] = useState(false);
  const create = useCreateAlbum();
  const newButton = canWrite && (
    <Button variant="primary" icon={Plus} onClick={() => setCreating(true)}>
      {text.newAlbum}
    </Button>
  );
  const hasAny = (albums.data?.length ?? 0) > 0;
  return (
    <Page
      title={text.title}
      wide
      actions={
        hasAny && (
          <>
            <Select
              label={text.sortBy}
              isLabelHidden
              value={chosen}
              onChange={(value) => setSearch({ sort: value === "modifiedAt" ? undefined : value })}
              options={[
                { value: "modifiedAt", label: text.byModified },
                { value: "name", label: text.byName },
                { value: "createdAt", label: text.byCreated },
              ]}
            />
            {newButton}
          </>
        )
      }
    >
      <LoadedList
        query={albums}
        empty={
          <EmptyState icon={BookImage} title={text.emptyTitle} action={newButton}>
            {text.emptyHint}
          </EmptyState>
        }
      >
        {(listed) => (
          <ul
            aria-label={text.listLabel}
            className="grid grid-cols-[repeat(auto-fill,minmax(9.5rem,1fr))] gap-4 sm:grid-cols-[repeat(auto-fill,minmax(12rem,1fr))]"
          >
            {listed.map((album) => (
              <li key={album.id} className="min-w-0">
                <AlbumCard album={album} />
              </li>
            ))}
          </ul>
        )}
      </LoadedList>
      <Suspense fallback={null}>
        {isCreating && <EditAlbumDialog save={create} onClose={() => setCreating(false)} />}
      </Suspense>
    </Page>
  );
}

/** @returns a function that makes an album and opens it */
function useCreateAlbum(): (draft: AlbumDraft) => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async (draft) => {
    const { id } = await request<Album>("POST", "/api/albums", { body: draft });
    await invalidateAlbums(queryClient);
    await navigate({ to: "/albums/$albumId", params: { albumId: id } });
  };
}

function AlbumCard({ album }: { readonly album: Album }) {
  return (
    <Link
      to="/albums/$albumId"
      params={{ albumId: album.id }}
      className="group block rounded-xl text-ink no-underline focus-visible:outline-3"
    >
      <Cover album={album} />
      <span className="mt-2 flex items-center gap-1.5 font-medium">
        <span className="truncate" dir="auto" title={album.name}>
          {album.name}
        </span>
        {album.isShared && (
          <Share2 role="img" aria-label={text.isShared} className="size-4 shrink-0 text-muted" strokeWidth={2} />
        )}
      </span>
      <span className="block text-sm text-muted">{text.itemCount({ n: album.itemCount })}</span>
    </Link>
  );
}

function Cover({ album }: { readonly album: Album }) {
  const address = coverAddress(album);
  const { src, hasFailed, onError } = usePicture(address ?? "");
  return (
    <span className="flex aspect-square items-center justify-center overflow-hidden rounded-xl border border-line bg-sunken text-muted group-hover:border-line-strong">
      {address === undefined || hasFailed ? (
        <BookImage aria-hidden size={40} strokeWidth={1.25} />
      ) : (
        <img src={src} alt="" loading="lazy" decoding="async" onError={onError} className="size-full object-cover" />
      )}
    </span>
  );
}
