import { type InfiniteData, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Bell, HardDrive } from "lucide-react";
import type { MouseEvent } from "react";
import { useBrowserPush } from "../../api/browser-push.ts";
import { request } from "../../api/http.ts";
import { href } from "../../base/address.ts";
import { formatDateTime, formatRelative } from "../../base/format.ts";
import { pathOf } from "../../base/push-message.ts";
import { PersonAvatar } from "../../ui/person-avatar.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorState } from "../../ui/error-state.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Check, Share2, ShieldCheck, Upload } from "../../ui/icons.ts";
import { LoadMore } from "../../ui/load-more.tsx";
import { pushText } from "../../ui/push-text.ts";
import { showError } from "../../ui/toast.tsx";
import { type Inbox, INBOX_KEY, type Notice, type useInbox } from "./inbox-query.ts";
import { text } from "./text.ts";

const ICONS = { uploads: Upload, shares: Share2, storage: HardDrive, security: ShieldCheck } as const;

/** The notifications of the account, newest first. Each opens the page about it. */
export function InboxDialog({
  inbox,
  isOpen,
  onClose,
}: {
  readonly inbox: ReturnType<typeof useInbox>;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const markRead = useMarkRead();
  const pages = inbox.data?.pages ?? [];
  const notices = pages.flatMap((page) => page.notifications);
  const unread = pages[0]?.unread ?? 0;
  const close = () => {
    onClose();
    // From now on, only the newest ones are requested again.
    queryClient.setQueryData<InfiniteData<Inbox, number>>(
      INBOX_KEY,
      (loaded) => loaded && { pages: loaded.pages.slice(0, 1), pageParams: loaded.pageParams.slice(0, 1) },
    );
  };
  return (
    <Dialog
      open={isOpen}
      onClose={close}
      title={text.title}
      size="medium"
      footer={
        unread > 0 ? (
          <Button icon={Check} onClick={() => markRead.mutate("all")}>
            {text.markAll}
          </Button>
        ) : undefined
      }
    >
      {inbox.isError && notices.length === 0 ? (
        <ErrorState error={inbox.error} onRetry={() => void inbox.refetch()} />
      ) : notices.length === 0 ? (
        <EmptyState icon={Bell} title={text.none}>
          {text.noneHint}
        </EmptyState>
      ) : (
        <ul aria-label={text.title} className="-mx-2 divide-y divide-line">
          {notices.map((notice) => (
            <Row key={notice.id} notice={notice} onRead={(id) => markRead.mutate([id])} onOpened={close} />
          ))}
        </ul>
      )}
      <LoadMore
        hasMore={inbox.hasNextPage}
        isLoading={inbox.isFetchingNextPage}
        onLoad={() => void inbox.fetchNextPage()}
      />
      {isOpen && <PushOffer />}
    </Dialog>
  );
}

function Row({
  notice: { id, category, title, body, data, createdAt, readAt },
  onRead,
  onOpened,
}: {
  readonly notice: Notice;
  readonly onRead: (id: string) => void;
  readonly onOpened: () => void;
}) {
  const router = useRouter();
  const path = pathOf(data);
  const isUnread = readAt === null;
  const open = (event: MouseEvent) => {
    if (isUnread) onRead(id);
    // The browser opens the new tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onOpened();
    router.history.push(href(path));
  };
  return (
    <li className="flex items-start gap-1">
      <a
        href={href(path)}
        onClick={open}
        className="control flex min-w-0 flex-1 items-start gap-3 rounded-lg px-2 py-3 text-sm hover:bg-sunken"
      >
        <Sign category={category} data={data} />
        <span className="min-w-0 flex-1">
          <span className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere text-ink">
            {title}
            {isUnread && <Badge tone="accent">{text.unread}</Badge>}
          </span>
          <span className="block wrap-anywhere text-muted">{body}</span>
          <time dateTime={createdAt} title={formatDateTime(createdAt)} className="block text-xs text-muted">
            {formatRelative(createdAt)}
          </time>
        </span>
      </a>
      {isUnread && (
        <IconButton
          label={text.markRead({ title })}
          icon={Check}
          iconSize={18}
          className="mt-2 shrink-0"
          onClick={() => onRead(id)}
        />
      )}
    </li>
  );
}

/** The person who caused the notification, or the kind of thing that it is about. */
function Sign({ category, data }: Pick<Notice, "category" | "data">) {
  const { ownerId = "", ownerName } = data;
  if (ownerName !== undefined) return <PersonAvatar id={ownerId} name={ownerName} size={36} />;
  const Icon = ICONS[category];
  return (
    <span aria-hidden className="inline-flex size-9 shrink-0 items-center justify-center rounded-full bg-sunken">
      <Icon size={18} />
    </span>
  );
}

/** What the person can change. The settings also name the other obstacles. */
const EXPLAINED: ReadonlySet<string | undefined> = new Set([undefined, "denied", "homeScreen"]);

/** Offers notifications in this browser if they are off, or says what is in the way. */
function PushOffer() {
  const { state, change } = useBrowserPush(showError);
  if (state.data === undefined || state.data.isOn || !EXPLAINED.has(state.data.obstacle)) return null;
  const { vapidPublicKey, obstacle } = state.data;
  return (
    <div className="mt-4 flex flex-col items-start gap-2 rounded-lg bg-sunken p-3 text-sm">
      {obstacle === undefined && (
        <Button icon={Bell} busy={change.isPending} onClick={() => change.mutate({ vapidPublicKey, isOn: true })}>
          {text.turnOn}
        </Button>
      )}
      <p className="text-muted">{obstacle === undefined ? text.turnOnHint : pushText.obstacle(obstacle)}</p>
    </div>
  );
}

const MARK_KEY = [...INBOX_KEY, "mark"];

/** Marks notifications as read: at once on the page, then on the server. */
function useMarkRead() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationKey: MARK_KEY,
    mutationFn: (which: readonly string[] | "all") =>
      request("POST", "/api/users/notifications/read", { body: which === "all" ? { all: true } : { ids: which } }),
    onMutate: async (which) => {
      await queryClient.cancelQueries({ queryKey: INBOX_KEY });
      const readAt = new Date().toISOString();
      queryClient.setQueryData<InfiniteData<Inbox, number>>(INBOX_KEY, (loaded) => {
        if (loaded === undefined) return undefined;
        const isMarked = ({ id, readAt: before }: Notice) => before === null && (which === "all" || which.includes(id));
        const marked = loaded.pages.flatMap((page) => page.notifications.filter(isMarked)).length;
        const pages = loaded.pages.map((page) => ({
          ...page,
          unread: which === "all" ? 0 : page.unread - marked,
          notifications: page.notifications.map((notice) => (isMarked(notice) ? { ...notice, readAt } : notice)),
        }));
        return { ...loaded, pages };
      });
    },
    onError: showError,
    onSettled: () => {
      // A list that is requested while others are being marked would show those as unread again.
      const isLast = queryClient.isMutating({ mutationKey: MARK_KEY }) === 1;
      return isLast ? queryClient.invalidateQueries({ queryKey: INBOX_KEY }) : undefined;
    },
  });
}
