import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Clock, RotateCcw } from "lucide-react";
import { Download } from "../../ui/icons.ts";
import { apiAddress } from "../../api/http.ts";
import { invalidateTree, keys, byPage } from "../../api/queries.ts";
import type { Entry } from "../../api/types.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { FileIcon } from "../../ui/file-icon.tsx";
import { formatBytes, formatDateTime } from "../../base/format.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import { PagedList } from "../../ui/paged-list.tsx";
import { toast, showError } from "../../ui/toast.tsx";
import { restoreEntry, fetchPast } from "./api.ts";
import { text } from "./text.ts";

/**
 * A folder as it was at a moment.
 * @param onRestore called to restore the folder at a path; undefined for people who may only read
 */
export function PastFolder({
  at,
  folder,
  onFolder,
  onRestore,
}: {
  readonly at: string;
  readonly folder: string;
  readonly onFolder: (path: string) => void;
  readonly onRestore?: (path: string) => void;
}) {
  const listing = useInfiniteQuery({
    queryKey: [...keys.history, "past", folder, at],
    queryFn: ({ pageParam, signal }) => fetchPast(folder, at, pageParam, signal),
    ...byPage,
    // While the folder is loaded at another moment, the previous listing stays visible.
    placeholderData: (before, former) => (former?.queryKey.at(-2) === folder ? before : undefined),
  });
  const queryClient = useQueryClient();
  const restore = useMutation({
    mutationFn: (entry: Entry) => restoreEntry(entry),
    onSuccess: async (_, entry) => {
      toast({
        text:
          entry.isDeleted === true ? text.itemRestored({ name: entry.name }) : text.fileRestored({ name: entry.name }),
      });
      await invalidateTree(queryClient);
    },
    onError: showError,
  });
  const entries = listing.data?.pages.flatMap((page) => page.files) ?? [];
  const when = formatDateTime(at);
  const title = folder === "/" ? text.root : folder.slice(folder.lastIndexOf("/") + 1);
  return (
    <section aria-label={text.contentsThen({ folder: title, when })} aria-busy={listing.isFetching}>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <div className="min-w-0">
          <h2 className="text-lg font-semibold break-words">
            <PastBreadcrumbs folder={folder} onFolder={onFolder} />
          </h2>
          <p className="text-sm text-muted">{text.asOf({ when })}</p>
        </div>
        {onRestore !== undefined && listing.isSuccess && (
          <Button variant="primary" icon={RotateCcw} onClick={() => onRestore(folder)}>
            {text.wholeFolder({ folder: title })}
          </Button>
        )}
      </div>
      <PagedList
        query={listing}
        isEmpty={entries.length === 0}
        empty={<EmptyState icon={Clock} title={text.emptyThen} />}
      >
        <DataTable
          caption={text.contentsThen({ folder: title, when })}
          columns={columnsOf({ onFolder, onRestore, onFile: restore.mutate })}
          rows={entries}
          rowKey={({ id }) => id}
        />
      </PagedList>
    </section>
  );
}

function PastBreadcrumbs({ folder, onFolder }: { readonly folder: string; readonly onFolder: (path: string) => void }) {
  const names = folder.split("/").filter((name) => name !== "");
  if (names.length === 0) return text.root;
  const above = [text.root, ...names.slice(0, -1)];
  return (
    <>
      {above.map((name, index) => {
        const path = `/${names.slice(0, index).join("/")}`;
        return (
          <span key={path}>
            <button type="button" onClick={() => onFolder(path)} className="min-h-6 text-accent hover:underline">
              {name}
            </button>
            <span aria-hidden className="px-1.5 text-muted">
              /
            </span>
          </span>
        );
      })}
      {names.at(-1)}
    </>
  );
}

function columnsOf({
  onFolder,
  onRestore,
  onFile,
}: {
  readonly onFolder: (path: string) => void;
  readonly onRestore: ((path: string) => void) | undefined;
  readonly onFile: (entry: Entry) => void;
}): readonly Column<Entry>[] {
  return [
    {
      key: "name",
      title: text.name,
      isHeader: true,
      cell: (entry) => <PastName entry={entry} onFolder={onFolder} />,
    },
    {
      key: "size",
      title: text.size,
      align: "end",
      isBlank: ({ type }) => type === "folder",
      cell: (entry) => (
        <span className="whitespace-nowrap">{entry.type === "folder" ? "–" : formatBytes(entry.size)}</span>
      ),
    },
    {
      key: "modified",
      title: text.modified,
      align: "end",
      cell: (entry) => <time className="whitespace-nowrap">{formatDateTime(entry.modifiedAt)}</time>,
    },
    {
      key: "actions",
      title: text.actions,
      isTitleHidden: true,
      align: "end",
      cell: (entry) => (
        <span className="inline-flex justify-end gap-1">
          <DownloadLink entry={entry} />
          {onRestore !== undefined && (
            <Button
              size="small"
              variant="quiet"
              icon={RotateCcw}
              aria-label={text.restoreItem({ name: entry.name })}
              onClick={() => (entry.type === "folder" ? onRestore(entry.path) : onFile(entry))}
            >
              {text.restore}
            </Button>
          )}
        </span>
      ),
    },
  ];
}

function PastName({ entry, onFolder }: { readonly entry: Entry; readonly onFolder: (path: string) => void }) {
  return (
    <span className="flex min-h-9 items-center gap-x-3">
      <FileIcon mimeType={entry.type === "folder" ? "folder" : entry.mimeType} />
      {entry.type === "folder" ? (
        <button
          type="button"
          onClick={() => onFolder(entry.path)}
          className="min-h-6 min-w-0 text-start break-words text-accent hover:underline"
        >
          {entry.name}
        </button>
      ) : (
        <span className="min-w-0 break-words">
          <bdi>{entry.name}</bdi>
        </span>
      )}
      {entry.isDeleted === true && <Badge tone="warning">{text.isDeleted}</Badge>}
      {entry.type === "file" && entry.contentAvailable === false && <Badge tone="danger">{text.isUnavailable}</Badge>}
    </span>
  );
}

function DownloadLink({ entry }: { readonly entry: Entry }) {
  if (entry.type === "folder" || entry.isDeleted === true || entry.contentAvailable === false) return null;
  return (
    <LinkButton
      size="small"
      variant="quiet"
      icon={Download}
      href={apiAddress(`/api/files/${entry.id}/versions/${entry.version}/download`)}
      download
      aria-label={`${text.download}: ${entry.name}`}
    >
      {text.download}
    </LinkButton>
  );
}
