import { Image as ImageIcon, Upload } from "../../ui/icons.ts";
import { Play } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { useNewMenu } from "../../ui/new-menu.ts";
import { Page } from "../../ui/page.tsx";
import { Link } from "@tanstack/react-router";
import { useTextSearch } from "../../base/search-params.ts";
import { PlacesLink, usePlaceName } from "./place-heading.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Button, buttonClassName } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Select } from "../../ui/select.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { DropZone } from "../uploads/drop-zone.tsx";
import { uploads } from "../uploads/uploads.ts";
import type { PhotoKind } from "./api.ts";
import { type DayRange, PhotoGrid, type PhotoGridHandle } from "./photo-grid.tsx";
import { useMemories } from "./memories.tsx";
import { PHOTO_SIZES, usePhotoSize } from "./photo-size.ts";
import { text } from "./text.ts";
import { usePhotoLibrary } from "./use-photo-library.ts";
import { useCanWrite } from "../../api/session.ts";

/** The folder for photos that are uploaded on this page. */
const FOLDER = "/Photos";

/** All photos and videos by the day they were taken, or those of one place. */
export function PhotosPage() {
  const { place } = useTextSearch();
  return <PhotosOfPlace key={place} place={place} />;
}

function NoPhotos({ canWrite }: { readonly canWrite: boolean }) {
  const actions = (
    <>
      <Button variant="primary" icon={Upload} onClick={() => void uploads.pickFiles(FOLDER)}>
        {text.upload}
      </Button>
      <Link
        to="/settings/$section"
        params={{ section: "import" }}
        className={buttonClassName({ variant: "quiet", size: "small" })}
      >
        {text.importPhotos}
      </Link>
    </>
  );
  return (
    <EmptyState icon={ImageIcon} title={text.emptyTitle} {...(canWrite && { action: actions })}>
      {text.emptyHint}
    </EmptyState>
  );
}

function AllPlacesLink() {
  return (
    <Link to="/photos/places" className={buttonClassName({})}>
      {text.places}
    </Link>
  );
}

function PhotosOfPlace({ place }: { readonly place: string | undefined }) {
  const placeName = usePlaceName(place);
  const canWrite = useCanWrite();
  const [kind, setKind] = useState<PhotoKind>("all");
  const [visibleDays, setVisibleDays] = useState<DayRange>();
  const [size] = usePhotoSize();
  const grid = useRef<PhotoGridHandle>(null);
  const scope = useMemo(() => ({ kind, place }), [kind, place]);
  const library = usePhotoLibrary(scope, visibleDays);
  const { data, error, refetch } = library.timeline;
  const row = useMemories(kind === "all" && place === undefined);
  useNewMenu(useMemo(() => ({ items: [], folder: FOLDER, canUpload: canWrite }), [canWrite]));
  return (
    <Page
      title={placeName ?? text.title}
      fill
      actions={
        <>
          <ViewChoice
            kind={kind}
            onKind={setKind}
            total={data?.total}
            onSlideshow={() => grid.current?.startSlideshow()}
          />
          {place !== undefined ? <AllPlacesLink /> : data?.total !== 0 && <PlacesLink />}
        </>
      }
    >
      <DropZone folder={FOLDER} disabled={!canWrite} className="flex min-h-0 flex-1 flex-col">
        {data?.isIndexing === true && (
          <p role="status" className="mb-2 flex items-center gap-2 text-sm text-muted">
            <Spinner size={16} label={null} />
            {text.indexing}
          </p>
        )}
        {data !== undefined && data.total > 0 && library.isReady && !row.isLoading ? (
          <PhotoGrid key={kind} library={library} size={size} row={row} handle={grid} onVisibleDays={setVisibleDays} />
        ) : error !== null ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : data === undefined || data.total > 0 ? (
          <div className="flex justify-center py-24 text-muted">
            <Spinner size={28} label={text.loading} />
          </div>
        ) : place !== undefined ? (
          <EmptyState icon={ImageIcon} title={text.nothingHere} />
        ) : kind === "all" ? (
          <NoPhotos canWrite={canWrite} />
        ) : (
          <EmptyState icon={ImageIcon} title={text.noneOfKind} />
        )}
      </DropZone>
    </Page>
  );
}

/** The number of photos, the slideshow button, and the choices of size and kind. */
function ViewChoice({
  kind,
  onKind,
  total,
  onSlideshow,
}: {
  readonly kind: PhotoKind;
  readonly onKind: (kind: PhotoKind) => void;
  /** Undefined while it is loading. The controls are already shown then, so that nothing moves later. */
  readonly total: number | undefined;
  readonly onSlideshow: () => void;
}) {
  const [size, setSize] = usePhotoSize();
  return (
    <>
      {total !== undefined && total > 0 && (
        <span className="text-sm text-muted max-sm:sr-only">{text.count({ n: total })}</span>
      )}
      {total !== 0 && (
        <IconButton label={text.slideshow} icon={Play} disabled={total === undefined} onClick={onSlideshow} />
      )}
      {total !== 0 && (
        <Select
          label={text.size}
          isLabelHidden
          value={size}
          onChange={setSize}
          options={PHOTO_SIZES.map((value) => ({ value, label: text.sizes(value) }))}
        />
      )}
      <Select<PhotoKind>
        label={text.show}
        isLabelHidden
        value={kind}
        onChange={onKind}
        options={[
          { value: "all", label: text.all },
          { value: "photo", label: text.photosOnly },
          { value: "video", label: text.videosOnly },
        ]}
      />
    </>
  );
}
