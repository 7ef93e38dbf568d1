/** Data and changes of the administration. */
import { keepPreviousData, useMutation, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import type { ResponseData } from "../../api/generated.ts";
import { request, type RequestOptions } from "../../api/http.ts";
import { keys } from "../../api/queries.ts";
import { showError } from "../../ui/toast.tsx";

/**
 * The response of an endpoint.
 * @param options `id` replaces `{id}` in the path; `keepsPrevious` shows the previous page while the next is loading
 */
export function useAdminData<E extends keyof ResponseData & `GET /api/${string}`>(
  endpoint: E,
  options: {
    readonly id?: string;
    readonly query?: RequestOptions["query"];
    readonly refetchIntervalMs?: number;
    readonly keepsPrevious?: boolean;
  } = {},
): UseQueryResult<ResponseData[E]> {
  const { id = "", query = {}, refetchIntervalMs = false } = options;
  return useQuery({
    queryKey: keys.admin(endpoint, id, query),
    queryFn: ({ signal }) => {
      const path: `/api/${string}` = `/api/${endpoint.slice("GET /api/".length).replace("{id}", id)}`;
      return request<ResponseData[E]>("GET", path, { query, signal });
    },
    refetchInterval: refetchIntervalMs,
    ...(options.keepsPrevious === true && { placeholderData: keepPreviousData }),
  });
}

/**
 * A change by an administrator. Errors are shown at the edge of the page.
 * @param after called with the result, before all data of the administration is fetched again
 */
export function useAction<Input = void, Result = unknown>(
  action: (input: Input) => Promise<Result>,
  after?: (result: Result, input: Input) => void,
) {
  const refresh = useRefresh();
  return useMutation<Result, unknown, Input>({
    mutationFn: action,
    onError: showError,
    onSuccess: async (result, input) => {
      after?.(result, input);
      await refresh();
    },
  });
}

/** Returns a function that fetches all data of the administration again. */
export function useRefresh(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ["admin"] });
}
