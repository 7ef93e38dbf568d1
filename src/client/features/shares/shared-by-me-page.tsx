import { useInfiniteQuery } from "@tanstack/react-query";
import { Share2 } from "../../ui/icons.ts";
import { keys, byPage } from "../../api/queries.ts";
import type { ShareRecord } from "../../api/types.ts";
import { href } from "../../base/address.ts";
import { Page } from "../../ui/page.tsx";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { LinkButton } from "../../ui/link-button.tsx";
import { PagedList } from "../../ui/paged-list.tsx";
import { Select } from "../../ui/select.tsx";
import { sortOptions, useListSort } from "../../entries/list-sort.ts";
import { SortMenu } from "../../entries/view-options.tsx";
import { fetchShares } from "../../entries/sharing/api.ts";
import { ShareItem } from "../../entries/sharing/share-item.tsx";
import { closedBecause } from "../../entries/sharing/share-state.tsx";
import { SharedTabs } from "./shared-tabs.tsx";
import { text } from "../../entries/sharing/text.ts";

const SORTS = sortOptions(["shared", "name"]);

type Filter = "all" | "open" | "closed";

/** All shares that the account has created, with their state and statistics. */
export function SharedByMePage() {
  const { show } = useTextSearch();
  const setSearch = useSetTextSearch();
  const filter: Filter = show === "open" || show === "closed" ? show : "all";
  const sort = useListSort("by-me", SORTS);
  const shares = useInfiniteQuery({
    queryKey: [...keys.shares, "by-me", { field: sort.field, order: sort.order }],
    queryFn: ({ pageParam, signal }) => fetchShares(sort, pageParam, signal),
    ...byPage,
  });
  const all = shares.data?.pages.flatMap((page) => page.shares) ?? [];
  const listed = all.filter((share) => isListed(share, filter));
  const actions = all.length > 0 && (
    <>
      <SortMenu sort={sort} />
      <Select
        label={text.filter}
        isLabelHidden
        value={filter}
        onChange={(value) => setSearch({ show: value === "all" ? undefined : value })}
        options={[
          { value: "all", label: text.filterAll },
          { value: "open", label: text.filterOpen },
          { value: "closed", label: text.filterClosed },
        ]}
      />
    </>
  );
  return (
    <Page title={text.byMeTitle} actions={actions}>
      <SharedTabs current="/shared/by-me" />
      <PagedList
        query={shares}
        isEmpty={all.length === 0}
        empty={
          <EmptyState
            icon={Share2}
            title={text.byMeEmpty}
            action={<LinkButton href={href("/files")}>{text.goToFiles}</LinkButton>}
          >
            {text.byMeEmptyHint}
          </EmptyState>
        }
      >
        {listed.length === 0 && <p className="py-8 text-center text-muted">{text.noneOfFilter}</p>}
        {listed.length > 0 && (
          <ul aria-label={text.byMeList} className="divide-y divide-line">
            {listed.map((share) => (
              <li key={share.id} className="py-5 first:pt-1">
                <ShareItem
                  share={share}
                  name={nameOf(share)}
                  heading={<h2 className="font-semibold break-words">{nameOf(share)}</h2>}
                />
              </li>
            ))}
          </ul>
        )}
      </PagedList>
    </Page>
  );
}

function isListed(share: ShareRecord, filter: Filter): boolean {
  if (filter === "all") return true;
  return (closedBecause(share) !== undefined) === (filter === "closed");
}

function nameOf(share: ShareRecord): string {
  return share.file?.name ?? share.folder?.name ?? share.album?.name ?? "";
}
