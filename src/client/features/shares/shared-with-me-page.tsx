import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BookImage } from "lucide-react";
import { Download, FolderOpen, LogOut, UsersRound } from "../../ui/icons.ts";
import { useMemo } from "react";
import { apiAddress } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import type { FileRecord } from "../../api/types.ts";
import { Page } from "../../ui/page.tsx";
import { useTextSearch } from "../../base/search-params.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClassName } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatDate, formatDateTime } from "../../base/format.ts";
import { LinkButton } from "../../ui/link-button.tsx";
import { toast, showError } from "../../ui/toast.tsx";
import { filePage, type PreviewSource } from "../../entries/preview-source.ts";
import { useFilePreview } from "../../entries/use-preview.tsx";
import { Thumbnail } from "../../entries/collection/thumbnail.tsx";
import { invalidateShares, leaveShare, type ReceivedShare, receivedQuery } from "../../entries/sharing/api.ts";
import { sizeOf } from "../../entries/entry-columns.tsx";
import { SharedTabs } from "./shared-tabs.tsx";
import { sortOptions, useListSort } from "../../entries/list-sort.ts";
import { SortMenu } from "../../entries/view-options.tsx";
import { ReceivedFolder } from "./received-folder.tsx";
import { text } from "../../entries/sharing/text.ts";
import { confirmThen } from "../../ui/confirm.tsx";
import { LoadedList } from "../../ui/loaded.tsx";

const SORTS = sortOptions(["shared", "name"]);

/** What others share with the account: a list, and the folders in it (`?share=` and `path=`). */
export function SharedWithMePage() {
  const { share: shareId, path = "/" } = useTextSearch();
  const sort = useListSort("with-me", SORTS);
  const received = useQuery(receivedQuery(sort));
  const opened = received.data?.find(({ id }) => id === shareId);
  if (opened?.folder !== undefined) {
    return <ReceivedFolder key={`${opened.id} ${path}`} share={opened} top={opened.folder} path={path} />;
  }
  const isMissing = shareId !== undefined && received.isSuccess;
  return (
    <Page title={text.withMeTitle} actions={(received.data?.length ?? 0) > 1 && <SortMenu sort={sort} />}>
      <SharedTabs current="/shared/with-me" />
      {isMissing && (
        <p role="status" className="mb-4 rounded-lg bg-warning-soft px-4 py-3 text-sm">
          <strong className="block font-semibold">{text.notFound}</strong>
          {text.notFoundHint}
        </p>
      )}
      <LoadedList
        query={received}
        empty={
          <EmptyState icon={UsersRound} title={text.withMeEmpty}>
            {text.withMeEmptyHint}
          </EmptyState>
        }
      >
        {(shares) => <ReceivedList shares={shares} />}
      </LoadedList>
    </Page>
  );
}

function ReceivedList({ shares }: { readonly shares: readonly ReceivedShare[] }) {
  const source = useMemo(() => sharedFiles(shares), [shares]);
  const { open, preview } = useFilePreview(source, { canChange: false });
  return (
    <>
      <ul aria-label={text.withMeList} className="divide-y divide-line">
        {shares.map((share) => (
          <ReceivedItem key={share.id} share={share} onOpen={({ id }) => open(id)} />
        ))}
      </ul>
      {preview}
    </>
  );
}

/** The files that others share one by one. */
function sharedFiles(shares: readonly ReceivedShare[]): PreviewSource {
  const files = shares.flatMap(({ file }) => file ?? []);
  return {
    key: [...keys.received, "files", ...files.map(({ id }) => id)],
    fetchPage: (page) => Promise.resolve(filePage(page === 1 ? files : [], page, files.length)),
    findPage: (id) => Promise.resolve(files.some((file) => file.id === id) ? 1 : undefined),
  };
}

function ReceivedItem({
  share,
  onOpen,
}: {
  readonly share: ReceivedShare;
  readonly onOpen: (file: FileRecord) => void;
}) {
  const queryClient = useQueryClient();
  const leave = useMutation({
    mutationFn: () => leaveShare(share.id),
    onSuccess: async () => {
      toast({ text: text.left });
      await invalidateShares(queryClient);
    },
    onError: showError,
  });
  const { file, folder, album, owner } = share;
  const entry = file ?? folder ?? album;
  if (entry === undefined) return null;
  const ownerName = owner.name || owner.email;
  const confirmLeave = () => {
    const body = text.leaveBody(ownerName);
    confirmThen({ title: text.leaveTitle(entry.name), body, action: text.leave, danger: true }, leave.mutate);
  };
  return (
    <li className="flex flex-wrap items-center gap-3 py-4 first:pt-1">
      {entry.type === "album" ? (
        <BookImage aria-hidden size={24} className="mx-2 shrink-0 text-muted" />
      ) : (
        <Thumbnail entry={entry} size="small" />
      )}
      <div className="min-w-0 flex-1 basis-56">
        <h2 className="font-semibold break-words">{entry.name}</h2>
        <p className="text-sm break-words text-muted">
          {[
            text.sharedBy(ownerName),
            text.sharedAt(formatDate(share.createdAt)),
            entry.type === "album" ? text.itemCount(entry.itemCount) : sizeOf(entry),
          ].join(" · ")}
        </p>
        {share.label !== null && <p className="text-sm break-words">{share.label}</p>}
        <p className="mt-1 flex flex-wrap gap-1.5">
          <Badge tone={share.permissions === "write" ? "accent" : "neutral"}>
            {share.permissions === "write" ? text.mayWriteBadge : text.mayReadBadge}
          </Badge>
          {share.expiresAt !== null && <Badge tone="warning">{text.expiresAt(formatDateTime(share.expiresAt))}</Badge>}
        </p>
      </div>
      <div className="flex flex-wrap gap-2">
        {entry.type === "album" ? (
          <Link
            to="/albums/$albumId"
            params={{ albumId: entry.id }}
            aria-label={`${text.open} ${entry.name}`}
            className={buttonClassName({})}
          >
            {text.open}
          </Link>
        ) : file === undefined ? (
          <FolderButton share={share} name={entry.name} />
        ) : (
          <FileButtons file={file} onOpen={() => onOpen(file)} />
        )}
        <Button icon={LogOut} variant="quiet" aria-label={`${text.leave} ${entry.name}`} onClick={confirmLeave}>
          {text.leave}
        </Button>
      </div>
    </li>
  );
}

function FolderButton({ share, name }: { readonly share: ReceivedShare; readonly name: string }) {
  return (
    <Link
      to="/shared/with-me"
      search={{ share: share.id }}
      aria-label={`${text.open} ${name}`}
      className="control inline-flex items-center justify-center gap-2 rounded-lg border border-line-strong bg-raised px-3.5 text-sm font-medium hover:bg-sunken"
    >
      <FolderOpen aria-hidden size={18} />
      {text.open}
    </Link>
  );
}

function FileButtons({ file, onOpen }: { readonly file: FileRecord; readonly onOpen: () => void }) {
  return (
    <>
      <Button aria-label={`${text.open} ${file.name}`} onClick={onOpen}>
        {text.open}
      </Button>
      <LinkButton
        icon={Download}
        href={apiAddress(`/api/files/${file.id}/download`)}
        download
        aria-label={`${text.download} ${file.name}`}
      >
        {text.download}
      </LinkButton>
    </>
  );
}
