import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { useTextSearch } from "../../../base/search-params.ts";
import { useCollection } from "../../../entries/collection/use-collection.ts";
import { EntryBrowser } from "../../../entries/entry-browser.tsx";
import { useListSort } from "../../../entries/list-sort.ts";
import { filesOfList } from "../../../entries/preview-source.ts";
import type { Destination } from "../../../entries/actions/bulk.ts";
import { dropFiles } from "../../uploads/drop-files.ts";
import { NO_RIGHTS, RightsContext, type RightsOf } from "../../../entries/rights.ts";
import { invalidateShares, leaveShare, receivedQuery } from "../../../entries/sharing/api.ts";
import { text } from "../../../entries/sharing/text.ts";
import { confirm } from "../../../ui/confirm.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { LogOut, UsersRound } from "../../../ui/icons.ts";
import { Page } from "../../../ui/page.tsx";
import { Spinner } from "../../../ui/spinner.tsx";
import { toast } from "../../../ui/toast.tsx";
import {
  albumIcon,
  COLUMNS,
  ownerName,
  type ReceivedEntry,
  SORTS,
  subtitleOf,
  useReceivedSource,
} from "./received-entries.tsx";
import { ReceivedFolder } from "./received-folder.tsx";
import { itemRights, withBestRights } from "../../../entries/sharing/received-rights.ts";
import { SharedTabs } from "./shared-tabs.tsx";

/** What others share with the account: a list, and the folders in it (`?share=` and `path=`). */
export function SharedWithMePage() {
  const { share: id, path = "/" } = useTextSearch();
  const received = useQuery({ ...receivedQuery, enabled: id !== undefined });
  if (id === undefined) return <ReceivedList isMissing={false} />;
  const found = received.data?.find((one) => one.id === id);
  const share = found && withBestRights(found, received.data ?? []);
  if (share?.folder !== undefined) {
    return <ReceivedFolder key={`${share.id} ${path}`} share={share} top={share.folder} path={path} />;
  }
  if (received.isPending)
    return (
      <Page title={text.withMeTitle}>
        <Spinner />
      </Page>
    );
  return <ReceivedList isMissing={received.isSuccess && share === undefined} />;
}

function ReceivedList({ isMissing }: { readonly isMissing: boolean }) {
  const sort = useListSort("with-me", SORTS);
  const source = useReceivedSource(sort);
  const collection = useCollection(source);
  const previewSource = useMemo(() => filesOfList(source), [source]);
  const navigate = useNavigate();
  const leave = useLeave((ids) => collection.forget(ids));
  const { pages } = collection;
  const { known } = pages;
  const rightsOf = useMemo<RightsOf>(() => {
    const rights = new Map([...known().values()].map(({ id, share }) => [id, itemRights(share)]));
    // Others are not listed any more, so nothing can be done with them.
    return ({ id }) => rights.get(id) ?? NO_RIGHTS;
  }, [known]);
  const open = ({ share }: ReceivedEntry) =>
    void (share.album === undefined
      ? navigate({ to: "/shared/with-me", search: { share: share.id } })
      : navigate({ to: "/albums/$albumId", params: { albumId: share.album.id } }));
  return (
    <Page title={text.withMeTitle} fill>
      <SharedTabs current="/shared/with-me" />
      {isMissing && <MissingShare />}
      {pages.error !== undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refetch} />
      ) : pages.total === 0 ? (
        <EmptyState icon={UsersRound} title={text.withMeEmpty}>
          {text.withMeEmptyHint}
        </EmptyState>
      ) : (
        <RightsContext value={rightsOf}>
          <EntryBrowser
            collection={collection}
            label={text.withMeList}
            folder="/"
            kind="with-me"
            previewSource={previewSource}
            destinationOf={destinationOf}
            onDropFiles={dropFiles}
            columns={COLUMNS}
            onOpenFolder={(_, entry) => open(entry)}
            subtitle={subtitleOf}
            thumbnailOf={albumIcon}
            sort={sort}
            extraItems={(withSelected) => [
              null,
              { label: text.leave, icon: LogOut, danger: true, run: () => withSelected(leave) },
            ]}
          />
        </RightsContext>
      )}
    </Page>
  );
}

/** Things can be dropped on shared folders that the person may change. */
function destinationOf({ share }: ReceivedEntry): Destination | undefined {
  return share.folder !== undefined && share.permissions === "write" ? { folder: "/", share: share.id } : undefined;
}

function MissingShare() {
  return (
    <p role="status" className="mb-4 rounded-lg bg-warning-soft px-4 py-3 text-sm">
      <strong className="block font-semibold">{text.notFound}</strong>
      {text.notFoundHint}
    </p>
  );
}

/** Leaves shares after a confirmation. */
function useLeave(onLeft: (ids: readonly string[]) => void) {
  const queryClient = useQueryClient();
  return async (entries: readonly ReceivedEntry[]): Promise<void> => {
    const [first] = entries;
    if (first === undefined) return;
    const isOne = entries.length === 1;
    const isSure = await confirm({
      title: isOne ? text.leaveTitle({ name: first.name }) : text.leaveManyTitle({ n: entries.length }),
      body: isOne ? text.leaveBody({ owner: ownerName(first.share) }) : text.leaveManyBody,
      action: text.leave,
      danger: true,
    });
    if (!isSure) return;
    try {
      for (const { id, share } of entries) {
        // oxlint-disable-next-line no-await-in-loop -- after a failure, the rest stays
        await leaveShare(share.id);
        onLeft([id]);
      }
      toast({ text: text.left({ n: entries.length }) });
    } finally {
      await invalidateShares(queryClient);
    }
  };
}
