import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { BookImage, PenLine } from "lucide-react";
import { Suspense, useMemo, useRef, useState } from "react";
import { ApiError } from "../../api/http.ts";
import { useCanWrite } from "../../api/session.ts";
import { type Album, albumQuery } from "../../entries/albums/api.ts";
import { ActionStatus } from "../../entries/actions/action-status.tsx";
import { EntryDialogs } from "../../entries/dialogs/entry-dialogs.tsx";
import { JustifiedGrid, type JustifiedGridHandle } from "../../entries/justified/justified-grid.tsx";
import { useFilePreview } from "../../entries/use-preview.tsx";
import { Button, buttonClassName } from "../../ui/button.tsx";
import { confirmThen } from "../../ui/confirm.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { EllipsisVertical, Share2, Trash2 } from "../../ui/icons.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import { Menu } from "../../ui/menu.tsx";
import { Page } from "../../ui/page.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { AlbumSelection } from "./album-selection.tsx";
import { type AlbumItem, albumFiles, useAlbumItems } from "./items.ts";
import { text } from "./text.ts";
import { useAlbumChanges } from "./use-album-changes.ts";

const EditAlbumDialog = lazyPart(() => import("./edit-album-dialog.tsx").then((part) => part.EditAlbumDialog));
const ShareDialog = lazyPart(() => import("../../entries/sharing/share-dialog.tsx").then((part) => part.ShareDialog));

/** One album, own or received. */
export function AlbumPage() {
  const { albumId = "" } = useParams({ strict: false });
  const { data: album, error, refetch } = useQuery(albumQuery(albumId));
  if (album !== undefined && !isGone(error)) return <OpenAlbum key={albumId} album={album} />;
  return (
    <Page title={text.title}>
      {isGone(error) ? (
        <EmptyState
          icon={BookImage}
          title={text.notFound}
          action={
            <Link to="/albums" className={buttonClassName({ variant: "primary" })}>
              {text.toAlbums}
            </Link>
          }
        >
          {text.notFoundHint}
        </EmptyState>
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </Page>
  );
}

function OpenAlbum({ album }: { readonly album: Album }) {
  const isOwn = album.owner === undefined;
  const canChange = useCanWrite() && isOwn;
  const { query, items } = useAlbumItems(album.id);
  const [selected, setSelected] = useState<ReadonlyMap<string, AlbumItem>>(new Map());
  const grid = useRef<JustifiedGridHandle>(null);
  const source = useMemo(() => albumFiles(album.id), [album.id]);
  const { open, preview } = useFilePreview(source, {
    canChange,
    findKnown: (id) => items.find((item) => item.id === id)?.file,
    onClosed: (id) => {
      const index = items.findIndex((item) => item.id === id);
      if (index >= 0) requestAnimationFrame(() => requestAnimationFrame(() => grid.current?.goTo(index)));
    },
  });
  const changes = useAlbumChanges(album);
  const toggle = (item: AlbumItem) =>
    setSelected((before) => {
      const next = new Map(before);
      if (!next.delete(item.id)) next.set(item.id, item);
      return next;
    });
  // A file that was removed from the album is no longer selected.
  const shown = items.filter(({ id }) => selected.has(id));
  return (
    <Page title={album.name} fill actions={<AlbumActions album={album} canChange={canChange} changes={changes} />}>
      <AlbumFacts album={album} />
      {shown.length > 0 && (
        <AlbumSelection
          items={items}
          selected={shown}
          canChange={canChange}
          changes={changes}
          onClear={() => setSelected(new Map())}
        />
      )}
      {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Loading />}
      {query.isSuccess && items.length === 0 && (
        <EmptyState icon={BookImage} title={text.emptyAlbum}>
          {isOwn ? text.emptyAlbumHint : text.emptyReceived}
        </EmptyState>
      )}
      {items.length > 0 && (
        <div className="min-h-0 flex-1">
          <JustifiedGrid
            label={text.gridLabel(album.name)}
            items={items}
            selected={selected}
            onOpen={({ id }) => open(id)}
            onToggle={toggle}
            onAdd={(added) =>
              setSelected((before) => new Map([...before, ...added.map((one) => [one.id, one] as const)]))
            }
            onClear={() => setSelected(new Map())}
            onNearEnd={() => {
              if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
            }}
            handle={grid}
          />
        </div>
      )}
      {preview}
      <ActionStatus />
      <EntryDialogs />
    </Page>
  );
}

/** Where the album is from, how much is in it, and its description. */
function AlbumFacts({ album }: { readonly album: Album }) {
  const { owner } = album;
  const className = "inline-flex min-h-6 items-center text-accent hover:underline";
  return (
    <div className="mb-3">
      <p className="flex flex-wrap items-center gap-x-2 text-sm text-muted">
        {owner === undefined ? (
          <Link to="/albums" className={className}>
            {text.back}
          </Link>
        ) : (
          <Link to="/shared/with-me" className={className}>
            {text.backToShared}
          </Link>
        )}
        <span>· {text.itemCount(album.itemCount)}</span>
        {owner !== undefined && <span>· {text.sharedBy(owner.name || owner.email)}</span>}
      </p>
      {album.description !== "" && <p className="mt-1 max-w-prose text-sm break-words">{album.description}</p>}
    </div>
  );
}

function AlbumActions({
  album,
  canChange,
  changes,
}: {
  readonly album: Album;
  readonly canChange: boolean;
  readonly changes: ReturnType<typeof useAlbumChanges>;
}) {
  const [dialog, setDialog] = useState<"share" | "edit">();
  if (!canChange) return null;
  const close = () => setDialog(undefined);
  const confirmRemoval = () =>
    confirmThen(
      { title: text.removeTitle(album.name), body: text.removeBody, action: text.remove, danger: true },
      () => void changes.remove(),
    );
  return (
    <>
      <Button icon={Share2} onClick={() => setDialog("share")}>
        {text.share}
      </Button>
      <Menu
        align="end"
        trigger={<IconButton label={text.more} icon={EllipsisVertical} hasTooltip={false} />}
        items={() => [
          { label: text.edit, icon: PenLine, run: () => setDialog("edit") },
          { label: text.remove, icon: Trash2, danger: true, run: confirmRemoval },
        ]}
      />
      <Suspense fallback={null}>
        {dialog === "share" && <ShareDialog entry={album} onClose={close} />}
        {dialog === "edit" && <EditAlbumDialog album={album} save={changes.edit} onClose={close} />}
      </Suspense>
    </>
  );
}

function Loading() {
  return (
    <div className="flex justify-center py-24 text-muted">
      <Spinner size={28} label={text.loading} />
    </div>
  );
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
