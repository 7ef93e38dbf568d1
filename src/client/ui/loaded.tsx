import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorState } from "./error-state.tsx";
import { Skeleton } from "./skeleton.tsx";
import { Spinner } from "./spinner.tsx";

/** Shows loaded data, a placeholder while it is loading, and an error with a button to try again. */
export function Loaded<Data>({
  query,
  children,
}: {
  readonly query: UseQueryResult<Data>;
  readonly children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <div className="flex flex-col gap-3 py-2">
      <Spinner className="sr-only" />
      <Skeleton className="h-8" />
      <Skeleton className="h-8" />
      <Skeleton className="h-8 w-2/3" />
    </div>
  );
}

/** Like {@link Loaded} for a list. `empty` is shown if it has no items. */
export function LoadedList<Item>({
  query,
  empty,
  children,
}: {
  readonly query: UseQueryResult<readonly Item[]>;
  readonly empty: ReactNode;
  readonly children: (items: readonly Item[]) => ReactNode;
}) {
  return <Loaded query={query}>{(items) => (items.length === 0 ? empty : children(items))}</Loaded>;
}
