import { Link, useNavigate } from "@tanstack/react-router";
import { FolderSearch, House, MonitorSmartphone } from "lucide-react";
import { useMemo } from "react";
import { useCanWrite } from "../../api/session.ts";
import { formatDateTime, formatRelative } from "../../base/format.ts";
import type { GridColumn } from "../../entries/collection/grid-types.ts";
import { type Collection, useCollection } from "../../entries/collection/use-collection.ts";
import { EntryBrowser } from "../../entries/entry-browser.tsx";
import { columnsOf, locationOf as folderOf, sizeOf } from "../../entries/entry-columns.tsx";
import { useGoToFolder } from "../../entries/folder-address.ts";
import { RightsContext } from "../../entries/rights.ts";
import { text as entriesText } from "../../entries/text.ts";
import { Button, buttonClassName } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { Upload } from "../../ui/icons.ts";
import { Page } from "../../ui/page.tsx";
import { DropZone } from "../uploads/drop-zone.tsx";
import { uploads } from "../uploads/uploads.ts";
import { ReceivedStrip, useReceivedShares } from "./received.tsx";
import { type RecentFile, recentSource, rightsOfHome } from "./recent.ts";
import { type Favorite, FavoritesStrip, PinsStrip, useFirstFavorites, usePins } from "./strips.tsx";
import { text } from "./text.ts";

/**
 * The start page: pins, favorites, and the files that the person added, changed or opened last. Without own files, also
 * what others share: a new person would not find it otherwise.
 */
export function HomePage() {
  const canWrite = useCanWrite();
  const collection = useCollection(recentSource);
  const favorites = useFirstFavorites();
  const { pages } = collection;
  const pins = usePins();
  const hasNoOwnFiles = pages.total !== undefined && ![...pages.known().values()].some(isOwn);
  const received = useReceivedShares(hasNoOwnFiles);
  const isNew = pages.total === 0 && (favorites ?? []).length === 0 && (pins ?? []).length === 0;
  return (
    <Page title={text.title} fill>
      <DropZone folder="/" disabled={!canWrite} className="flex min-h-0 flex-1 flex-col">
        {pages.error !== undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refetch} />
        ) : isNew ? (
          // In one step, so that what is below does not move.
          received !== undefined && (
            <>
              <ReceivedStrip shares={received} />
              <FirstSteps canWrite={canWrite} />
            </>
          )
        ) : (
          <>
            {pins !== undefined && <PinsStrip pins={pins} />}
            {favorites !== undefined && <FavoritesStrip favorites={favorites} />}
            {hasNoOwnFiles && received !== undefined && <ReceivedStrip shares={received} />}
            <RecentFiles collection={collection} favorites={favorites} />
          </>
        )}
      </DropZone>
    </Page>
  );
}

function RecentFiles({
  collection,
  favorites,
}: {
  readonly collection: Collection<RecentFile>;
  readonly favorites: readonly Favorite[] | undefined;
}) {
  const goToFolder = useGoToFolder();
  const navigate = useNavigate();
  // The preview shows favorites too.
  const { known } = collection.pages;
  const rightsOf = useMemo(() => rightsOfHome([...(favorites ?? []), ...known().values()]), [known, favorites]);
  const openFolderOf = ({ folder, permission, share }: RecentFile) => {
    if (permission === "own") goToFolder(folder);
    else void navigate({ to: "/shared/with-me", search: share === undefined ? {} : { share, path: folder } });
  };
  return (
    <RightsContext value={rightsOf}>
      <EntryBrowser
        collection={collection}
        label={text.recent}
        folder="/"
        kind="recent"
        columns={COLUMNS}
        onOpenFolder={goToFolder}
        subtitle={activityAndSize}
        extraItems={(withSelected) => [
          null,
          {
            label: text.goToFolder,
            icon: FolderSearch,
            run: () =>
              withSelected(([first]) => {
                if (first !== undefined) openFolderOf(first);
              }),
          },
        ]}
        summary={<h2 className="text-base font-semibold">{text.recent}</h2>}
      />
    </RightsContext>
  );
}

const COLUMNS: readonly GridColumn<RecentFile>[] = [
  {
    id: "activity",
    header: () => text.activity,
    width: 12,
    render: (file) => <Activity file={file} />,
  },
  {
    id: "location",
    header: () => entriesText.location,
    width: 14,
    render: (file) => <bdi title={locationOf(file)}>{locationOf(file)}</bdi>,
  },
  ...columnsOf(["tags", "type", "modified", "uploaded", "size"]).map((column) =>
    column.id === "modified" ? { ...column, isExtra: true } : column,
  ),
];

function Activity({ file }: { readonly file: RecentFile }) {
  return (
    <time dateTime={file.activityAt} title={formatDateTime(file.activityAt)}>
      {activityOf(file)}
    </time>
  );
}

function activityOf({ activity, activityAt }: RecentFile): string {
  return text.activities(activity, { when: formatRelative(activityAt) });
}

function activityAndSize(file: RecentFile): string {
  return `${activityOf(file)} · ${sizeOf(file)}`;
}

function isOwn({ permission }: RecentFile): boolean {
  return permission === "own";
}

function locationOf({ folder, permission }: RecentFile): string {
  if (permission === "own") return folderOf(folder);
  return folder === "/" ? text.sharedWithMe : `${text.sharedWithMe}${folder}`;
}

/** What to do with a new account. */
function FirstSteps({ canWrite }: { readonly canWrite: boolean }) {
  if (!canWrite) {
    return (
      <EmptyState icon={House} title={text.title}>
        {text.emptyReadOnly}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={House}
      title={text.emptyTitle}
      action={
        <>
          <div className="flex flex-wrap justify-center gap-2">
            <Button icon={Upload} variant="primary" onClick={() => void uploads.pickFiles("/")}>
              {text.uploadFiles}
            </Button>
            <Link to="/settings/$section" params={{ section: "connect" }} className={buttonClassName({})}>
              <MonitorSmartphone aria-hidden size={18} />
              {text.connectDevices}
            </Link>
          </div>
          <Link
            to="/settings/$section"
            params={{ section: "import" }}
            className={buttonClassName({ variant: "quiet", size: "small" })}
          >
            {text.importFiles}
          </Link>
        </>
      }
    >
      <span className="pointer-coarse:hidden">{text.emptyHint}</span>
      <span className="hidden pointer-coarse:inline">{text.emptyHintTouch}</span>
    </EmptyState>
  );
}
