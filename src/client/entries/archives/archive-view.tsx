import { useInfiniteQuery } from "@tanstack/react-query";
import { FolderUp, PackageOpen } from "lucide-react";
import { useState } from "react";
import type { ResponseData, Schemas } from "../../api/generated.ts";
import { apiAddress, request } from "../../api/http.ts";
import { byPage, keys } from "../../api/queries.ts";
import { useCanWrite } from "../../api/session.ts";
import type { FileRecord } from "../../api/types.ts";
import { formatBytes, formatDateTime } from "../../base/format.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { FileIcon } from "../../ui/file-icon.tsx";
import { IconLink } from "../../ui/icon-link.tsx";
import { Download } from "../../ui/icons.ts";
import { LoadMore } from "../../ui/load-more.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { ExtractionStatus } from "./extraction-status.tsx";
import { text } from "./text.ts";
import { useExtract } from "./use-extract.ts";

type ArchiveEntry = Schemas["ArchiveEntry"];

/** Types that browsers show in a tab of their own, without running anything. */
const SHOWN = /^(?:image\/(?!svg)|audio\/|video\/|text\/plain$|application\/pdf$)/;

/** The folders and files in an archive. Nothing is extracted until the person asks for it. */
export function ArchiveView({ file }: { readonly file: FileRecord }) {
  const [path, setPath] = useState("");
  const extract = useExtract();
  const canWrite = useCanWrite();
  return (
    <section
      aria-label={text.contentOf({ name: file.name })}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a long list must be scrollable by keyboard
      tabIndex={0}
      className="size-full overflow-auto"
    >
      <div className="mx-auto my-4 w-full max-w-4xl border-y border-line bg-raised px-3 py-4 sm:my-6 sm:rounded-xl sm:border sm:px-6">
        <div className="mb-3 flex flex-wrap items-center gap-2">
          <Button
            icon={FolderUp}
            disabled={path === ""}
            onClick={() => setPath(path.split("/").slice(0, -1).join("/"))}
          >
            {text.up}
          </Button>
          <p aria-live="polite" aria-label={text.location} className="min-w-0 flex-1 text-sm break-words text-muted">
            {path === "" ? text.top : path.split("/").join(" › ")}
          </p>
          {canWrite && (
            <Button variant="primary" icon={PackageOpen} onClick={() => extract(file)}>
              {text.extract}
            </Button>
          )}
        </div>
        <ExtractionStatus className="mb-3" />
        <EntryTable key={path} file={file} path={path} onOpen={setPath} />
      </div>
    </section>
  );
}

function EntryTable({
  file,
  path,
  onOpen,
}: {
  readonly file: FileRecord;
  readonly path: string;
  readonly onOpen: (path: string) => void;
}) {
  const list = useInfiniteQuery({
    ...byPage,
    queryKey: keys.entry(file.id, "archive", file.version, path),
    queryFn: ({ pageParam, signal }) =>
      request<ResponseData["GET /api/files/{id}/archive"]>("GET", `/api/files/${file.id}/archive`, {
        query: { path, page: pageParam, limit: 500 },
        signal,
      }),
  });
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) return <Spinner />;
  const entries = list.data.pages.flatMap((page) => page.entries);
  if (entries.length === 0) return <p className="py-6 text-center text-muted">{text.empty}</p>;
  return (
    <>
      <table className="w-full text-sm">
        <thead className="text-start text-muted">
          <tr className="border-b border-line">
            <th className="py-2 text-start font-medium">{text.name}</th>
            <th className="hidden py-2 text-start font-medium sm:table-cell">{text.modified}</th>
            <th className="py-2 text-end font-medium">{text.size}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <EntryRow key={`${entry.type} ${entry.path}`} file={file} entry={entry} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
      <LoadMore
        hasMore={list.hasNextPage}
        isLoading={list.isFetchingNextPage}
        onLoad={() => void list.fetchNextPage()}
      />
    </>
  );
}

function EntryRow({
  file,
  entry,
  onOpen,
}: {
  readonly file: FileRecord;
  readonly entry: ArchiveEntry;
  readonly onOpen: (path: string) => void;
}) {
  const { name, path, type, mimeType = "", size = 0, modifiedAt, isEncrypted } = entry;
  const address = (inline: boolean) => apiAddress(`/api/files/${file.id}/archive/entry`, { path, inline });
  const isShown = type === "file" && !isEncrypted && SHOWN.test(mimeType);
  const label = <bdi className="min-w-0 break-words">{name}</bdi>;
  return (
    <tr className="border-b border-line">
      <td className="py-1">
        <span className="control flex items-center gap-2">
          <FileIcon mimeType={type === "folder" ? "folder" : mimeType} />
          {type === "folder" ? (
            <button
              type="button"
              className="control min-w-0 flex-1 text-start font-medium"
              onClick={() => onOpen(path)}
            >
              {label}
            </button>
          ) : isShown ? (
            <a
              href={address(true)}
              target="_blank"
              rel="noopener noreferrer"
              aria-label={text.open({ name })}
              className="control inline-flex min-w-0 items-center text-accent underline"
            >
              {label}
            </a>
          ) : (
            label
          )}
        </span>
      </td>
      <td className="hidden py-1 whitespace-nowrap text-muted sm:table-cell">
        {modifiedAt === null ? "" : formatDateTime(modifiedAt)}
      </td>
      <td className="py-1 text-end whitespace-nowrap text-muted">
        {type === "folder" ? text.folder : isEncrypted ? text.encrypted : formatBytes(size)}
      </td>
      <td className="w-10 py-1 text-end">
        {type === "file" && !isEncrypted && (
          <IconLink label={text.download({ name })} icon={Download} href={address(false)} download={name} />
        )}
      </td>
    </tr>
  );
}
