import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Download, FolderOpen, Upload } from "../../ui/icons.ts";
import { useMemo } from "react";
import { apiAddress, request } from "../../api/http.ts";
import { keys, byPage } from "../../api/queries.ts";
import type { Entry, FolderRecord, Listing } from "../../api/types.ts";
import { Page } from "../../ui/page.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatBytes, formatDate } from "../../base/format.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import { PagedList } from "../../ui/paged-list.tsx";
import { folderFiles } from "../../entries/preview-source.ts";
import { useFilePreview } from "../../entries/use-preview.tsx";
import type { GridSort } from "../../entries/collection/grid-types.ts";
import { dateOf } from "../../entries/entry-columns.tsx";
import { sortOptions, useListSort } from "../../entries/list-sort.ts";
import { SortMenu } from "../../entries/view-options.tsx";
import { Thumbnail } from "../../entries/collection/thumbnail.tsx";
import { DropZone } from "../uploads/drop-zone.tsx";
import { uploads } from "../uploads/uploads.ts";
import type { ReceivedShare } from "../../entries/sharing/api.ts";
import { text } from "../../entries/sharing/text.ts";

const PAGE_SIZE = 100;
const SORTS = sortOptions(["natural", "fileModifiedAt", "size"]);

/** A folder that another account shares: browse it, and upload files if that is allowed. */
export function ReceivedFolder({
  share,
  top,
  path,
}: {
  readonly share: ReceivedShare;
  readonly top: FolderRecord;
  readonly path: string;
}) {
  const sort = useListSort("received", SORTS);
  const { field, order } = sort;
  const listing = useReceivedListing(share, path, sort);
  const source = useMemo(
    () => folderFiles({ folder: path, share: share.id, sort: field, order }),
    [path, share.id, field, order],
  );
  const { open, preview } = useFilePreview(source, { canChange: false });
  const entries = listing.data?.pages.flatMap((page) => page.files) ?? [];
  const canWrite = share.permissions === "write";
  const name = path === "/" ? top.name : path.slice(path.lastIndexOf("/") + 1);
  const actions = (
    <>
      {canWrite && (
        <Button icon={Upload} variant="primary" onClick={() => void uploads.pickFiles(path, { share: share.id })}>
          {text.upload}
        </Button>
      )}
      {path === "/" && entries.length > 0 && (
        <LinkButton icon={Download} href={apiAddress(`/api/files/folders/${top.id}/archive`)} download>
          {text.downloadZip}
        </LinkButton>
      )}
      {entries.length > 1 && <SortMenu sort={sort} />}
    </>
  );
  return (
    <Page title={name} actions={actions}>
      <ReceivedBreadcrumbs share={share} top={top} path={path} />
      <DropZone folder={path} share={share.id} disabled={!canWrite} className="flex-1">
        <PagedList
          query={listing}
          isEmpty={entries.length === 0}
          empty={<EmptyState icon={FolderOpen} title={text.emptyFolder} />}
        >
          <DataTable
            caption={text.contentsOf(name)}
            columns={columnsOf(share.id, path, open)}
            rows={entries}
            rowKey={({ id }) => id}
          />
        </PagedList>
      </DropZone>
      {preview}
    </Page>
  );
}

/** The content of a folder of a share, page by page. */
function useReceivedListing(share: ReceivedShare, path: string, { field, order }: GridSort) {
  return useInfiniteQuery({
    queryKey: keys.listing(path, "share", share.id, { field, order }),
    queryFn: ({ pageParam, signal }) =>
      request<Listing>("GET", "/api/files", {
        query: {
          share: share.id,
          folder: path,
          sort: field,
          order,
          page: pageParam,
          limit: PAGE_SIZE,
        },
        signal,
      }),
    ...byPage,
  });
}

function ReceivedBreadcrumbs({
  share,
  top,
  path,
}: {
  readonly share: ReceivedShare;
  readonly top: FolderRecord;
  readonly path: string;
}) {
  const names = path.split("/").filter((name) => name !== "");
  const above = [top.name, ...names].slice(0, -1);
  const className = "inline-flex min-h-6 items-center text-accent hover:underline";
  return (
    <nav aria-label={text.breadcrumb} className="mb-3 flex flex-wrap items-center gap-x-2 text-sm">
      <Link to="/shared/with-me" search={{}} className={className}>
        {text.withMeTitle}
      </Link>
      {names.length > 0 &&
        above.map((name, index) => {
          const target = `/${names.slice(0, index).join("/")}`;
          return (
            <span key={target} className="contents">
              <span aria-hidden className="text-muted">
                /
              </span>
              <Link to="/shared/with-me" search={{ share: share.id, path: target }} className={className}>
                {name}
              </Link>
            </span>
          );
        })}
    </nav>
  );
}

function columnsOf(shareId: string, path: string, onOpen: (id: string) => void): readonly Column<Entry>[] {
  const below = (name: string) => (path === "/" ? `/${name}` : `${path}/${name}`);
  const className = "flex min-h-11 min-w-0 items-center gap-3 text-start hover:underline";
  return [
    {
      key: "name",
      title: text.name,
      isHeader: true,
      cell: (entry) =>
        entry.type === "folder" ? (
          <Link to="/shared/with-me" search={{ share: shareId, path: below(entry.name) }} className={className}>
            <Thumbnail entry={entry} size="small" />
            <span className="min-w-0 break-words">
              <bdi>{entry.name}</bdi>
            </span>
          </Link>
        ) : (
          <button type="button" onClick={() => onOpen(entry.id)} className={className}>
            <Thumbnail entry={entry} size="small" />
            <span className="min-w-0 break-words">
              <bdi>{entry.name}</bdi>
            </span>
          </button>
        ),
    },
    {
      key: "size",
      title: text.size,
      align: "end",
      cell: (entry) => (entry.type === "folder" ? text.itemCount(entry.itemCount) : formatBytes(entry.size)),
    },
    { key: "modified", title: text.modified, align: "end", cell: (entry) => formatDate(dateOf(entry)) },
    {
      key: "actions",
      title: text.actions,
      isTitleHidden: true,
      align: "end",
      cell: (entry) => (
        <LinkButton
          size="small"
          variant="quiet"
          icon={Download}
          download
          aria-label={`${text.download} ${entry.name}`}
          href={apiAddress(
            entry.type === "folder" ? `/api/files/folders/${entry.id}/archive` : `/api/files/${entry.id}/download`,
          )}
        >
          <span className="md:sr-only">{text.download}</span>
        </LinkButton>
      ),
    },
  ];
}
