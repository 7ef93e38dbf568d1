import { type InfiniteData, useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Bell } from "lucide-react";
import { useState } from "react";
import type { ResponseData } from "../../api/generated.ts";
import { request } from "../../api/http.ts";
import { byPage, keys } from "../../api/queries.ts";
import { formatRelative } from "../../base/format.ts";
import { Badge } from "../../ui/badge.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { LoadMore } from "../../ui/load-more.tsx";
import { text } from "./text.ts";

type Inbox = ResponseData["GET /api/users/notifications"];

const KEY = [...keys.notifications, "inbox"];
const POLL_MS = 60_000;

/** The bell, with the notifications of the account in a dialog. Opening it marks all of them as read. */
export function InboxBell() {
  const [isOpen, setIsOpen] = useState(false);
  const queryClient = useQueryClient();
  const inbox = useInfiniteQuery({
    queryKey: KEY,
    queryFn: ({ pageParam, signal }) =>
      request<Inbox>("GET", "/api/users/notifications", { query: { page: pageParam }, signal }),
    ...byPage,
    refetchInterval: POLL_MS,
  });
  const pages = inbox.data?.pages ?? [];
  const markRead = useMutation({ mutationFn: () => request("POST", "/api/users/notifications/read") });
  const unread = pages[0]?.unread ?? 0;
  const open = () => {
    setIsOpen(true);
    if (unread > 0) markRead.mutate();
  };
  const close = () => {
    setIsOpen(false);
    // From now on, only the newest ones are requested again.
    queryClient.setQueryData<InfiniteData<Inbox, number>>(
      KEY,
      (loaded) => loaded && { pages: loaded.pages.slice(0, 1), pageParams: loaded.pageParams.slice(0, 1) },
    );
    void queryClient.invalidateQueries({ queryKey: KEY });
  };
  return (
    <>
      <span className="relative">
        <IconButton label={text.open(unread)} icon={Bell} onClick={open} />
        {unread > 0 && (
          <span aria-hidden className="pointer-events-none absolute end-1.5 top-1.5 size-2.5 rounded-full bg-danger" />
        )}
      </span>
      <Dialog open={isOpen} onClose={close} title={text.title}>
        <Messages messages={pages.flatMap((page) => page.notifications)} />
        <LoadMore
          hasMore={inbox.hasNextPage}
          isLoading={inbox.isFetchingNextPage}
          onLoad={() => void inbox.fetchNextPage()}
        />
      </Dialog>
    </>
  );
}

function Messages({ messages }: { readonly messages: Inbox["notifications"] }) {
  if (messages.length === 0) {
    return (
      <EmptyState icon={Bell} title={text.none}>
        {text.noneHint}
      </EmptyState>
    );
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keyboard: the messages have no controls
    <ul aria-label={text.title} tabIndex={0} className="divide-y divide-line">
      {messages.map(({ id, title, body, createdAt, readAt }) => (
        <li key={id} className="py-3 text-sm">
          <p className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere">
            {title}
            {readAt === null && <Badge tone="accent">{text.unread}</Badge>}
          </p>
          <p className="wrap-anywhere text-muted">{body}</p>
          <p className="text-xs text-muted">{formatRelative(createdAt)}</p>
        </li>
      ))}
    </ul>
  );
}
