import type { ReactNode } from "react";
import { ErrorState } from "./error-state.tsx";
import { LoadMore } from "./load-more.tsx";
import { Skeleton } from "./skeleton.tsx";

/** The fields of an infinite query that {@link PagedList} uses. */
interface PagedQuery {
  readonly isPending: boolean;
  readonly isError: boolean;
  readonly isSuccess: boolean;
  readonly error: unknown;
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  refetch(): Promise<unknown>;
  fetchNextPage(): Promise<unknown>;
}

/** A list that is loaded page by page, with its loading, error and empty states and a button for the rest. */
export function PagedList({
  query,
  isEmpty,
  empty,
  children,
}: {
  readonly query: PagedQuery;
  readonly isEmpty: boolean;
  readonly empty: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <>
      {query.isPending && <Skeleton className="h-48" />}
      {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {isEmpty ? query.isSuccess && empty : children}
      <LoadMore
        hasMore={query.hasNextPage}
        isLoading={query.isFetchingNextPage}
        onLoad={() => void query.fetchNextPage()}
      />
    </>
  );
}
