import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { BookImage, PenLine } from "lucide-react";
import { Suspense, useState } from "react";
import { ApiError } from "../../api/http.ts";
import { useCanWrite } from "../../api/session.ts";
import { type Album, albumQuery } from "../../entries/albums/api.ts";
import { ActionStatus } from "../../entries/actions/action-status.tsx";
import { allOwn, NO_RIGHTS, RightsContext } from "../../entries/rights.ts";
import { EntryDialogs } from "../../entries/dialogs/entry-dialogs.tsx";
import { usePinItem } from "../../entries/pins/use-pin-item.ts";
import { Button, buttonClassName, type ButtonStyle } from "../../ui/button.tsx";
import { confirmThen } from "../../ui/confirm.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { EllipsisVertical, Plus, Share2, Trash2 } from "../../ui/icons.ts";
import { lazyPart } from "../../ui/lazy-part.ts";
import { Menu } from "../../ui/menu.tsx";
import type { MenuItems } from "../../ui/menu-items.ts";
import { Page } from "../../ui/page.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { AlbumGrid } from "./album-grid.tsx";
import { useAlbumItems } from "./items.ts";
import { text } from "./text.ts";
import { useAlbumChanges } from "./use-album-changes.ts";

const AddPhotosDialog = lazyPart(() => import("./picker/add-photos-dialog.tsx").then((part) => part.AddPhotosDialog));
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
  const changes = useAlbumChanges(album);
  const content = useAlbumItems(album.id);
  const { shapes, ids } = content;
  // The dialog belongs to the page: the button of an empty album goes when the dialog finds that others filled it.
  const [isAdding, setAdding] = useState(false);
  const add = () => setAdding(true);
  return (
    <Page
      title={album.name}
      fill
      actions={<AlbumActions album={album} canChange={canChange} changes={changes} onAdd={add} />}
    >
      <AlbumFacts album={album} />
      {shapes.data === undefined ? (
        shapes.isError ? (
          <ErrorState error={shapes.error} onRetry={() => void shapes.refetch()} />
        ) : (
          <Loading />
        )
      ) : ids.length === 0 ? (
        <EmptyState
          icon={BookImage}
          title={text.emptyAlbum}
          action={canChange && <AddPhotosButton variant="primary" onClick={add} />}
        >
          {isOwn ? text.emptyAlbumHint : text.emptyReceived}
        </EmptyState>
      ) : (
        <RightsContext value={isOwn ? allOwn : onlyShown}>
          <AlbumGrid
            album={album}
            content={content}
            aspects={shapes.data.aspects}
            canChange={canChange}
            changes={changes}
          />
        </RightsContext>
      )}
      <Suspense fallback={null}>
        {isAdding && <AddPhotosDialog album={album} onClose={() => setAdding(false)} />}
      </Suspense>
      <ActionStatus />
      <EntryDialogs />
    </Page>
  );
}

/** The files of an album of others can only be seen. */
const onlyShown = () => NO_RIGHTS;

/** Where the album is from, how much is in it, and its description. */
function AlbumFacts({ album }: { readonly album: Album }) {
  const { owner } = album;
  const className = "reach inline-flex min-h-6 items-center text-accent hover:underline";
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
        <span>· {text.itemCount({ n: album.itemCount })}</span>
        {owner !== undefined && <span>· {text.sharedBy({ name: owner.name || owner.email })}</span>}
      </p>
      {album.description !== "" && <p className="mt-1 max-w-prose text-sm break-words">{album.description}</p>}
    </div>
  );
}

function AlbumActions({
  album,
  canChange,
  changes,
  onAdd,
}: {
  readonly album: Album;
  readonly canChange: boolean;
  readonly changes: ReturnType<typeof useAlbumChanges>;
  onAdd(): void;
}) {
  const [dialog, setDialog] = useState<"share" | "edit">();
  const pin = usePinItem(album);
  if (!canChange) {
    return pin && <MoreMenu items={() => [pin]} />;
  }
  const close = () => setDialog(undefined);
  const confirmRemoval = () =>
    confirmThen(
      { title: text.removeTitle({ name: album.name }), body: text.removeBody, action: text.remove, danger: true },
      () => void changes.remove(),
    );
  return (
    <>
      {album.itemCount > 0 && <AddPhotosButton onClick={onAdd} />}
      <Button icon={Share2} onClick={() => setDialog("share")}>
        {text.share}
      </Button>
      <MoreMenu
        items={() => [
          ...(pin === undefined ? [] : [pin]),
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

function MoreMenu({ items }: { readonly items: MenuItems }) {
  const trigger = <IconButton label={text.more} icon={EllipsisVertical} hasTooltip={false} />;
  return <Menu align="end" trigger={trigger} items={items} />;
}

function AddPhotosButton(props: Pick<ButtonStyle, "variant"> & { onClick(): void }) {
  return (
    <Button icon={Plus} {...props}>
      {text.addPhotos}
    </Button>
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
