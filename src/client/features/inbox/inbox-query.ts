import { useInfiniteQuery } from "@tanstack/react-query";
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { byPage, keys, LIVE_INTERVAL_MS } from "../../api/queries.ts";

/** A page of the inbox. */
export type Inbox = ResponseData["GET /api/users/notifications"];

/** A notification. */
export type Notice = Inbox["notifications"][number];

export const INBOX_KEY = [...keys.notifications, "inbox"];

/** The notifications of the account, newest first. */
export function useInbox() {
  return useInfiniteQuery({
    queryKey: INBOX_KEY,
    queryFn: ({ pageParam, signal }) =>
      request<Inbox>("GET", "/api/users/notifications", { query: { page: pageParam }, signal }),
    ...byPage,
    refetchInterval: LIVE_INTERVAL_MS,
    refetchOnWindowFocus: "always",
  });
}
