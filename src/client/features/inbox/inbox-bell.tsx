import { useQueryClient } from "@tanstack/react-query";
import { Bell } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { whenUsed } from "../../base/when-used.ts";
import { IconButton } from "../../ui/icon-button.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { INBOX_KEY, useInbox } from "./inbox-query.ts";
import { text } from "./text.ts";

const InboxDialog = lazyPart(() => import("./inbox-dialog.tsx").then((part) => part.InboxDialog));
whenUsed(() => void InboxDialog.preload());

/** The bell with the number of unread notifications, and the notifications of the account in a dialog. */
export function InboxBell() {
  const [isOpen, setIsOpen] = useState(false);
  const [wasOpen, setWasOpen] = useState(false);
  const inbox = useInbox();
  useFollowPush();
  const unread = inbox.data?.pages[0]?.unread ?? 0;
  const open = () => {
    setWasOpen(true);
    setIsOpen(true);
  };
  return (
    <>
      <span className="relative">
        <IconButton label={text.open({ unread })} icon={Bell} onClick={open} />
        {unread > 0 && (
          <span
            aria-hidden
            className="pointer-events-none absolute end-0.5 top-0.5 min-w-5 rounded-full bg-danger px-1 text-center text-xs/5 font-semibold text-on-danger"
          >
            {unread > 99 ? "99+" : unread}
          </span>
        )}
      </span>
      {wasOpen && (
        <Suspense fallback={null}>
          <InboxDialog inbox={inbox} isOpen={isOpen} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** Fetches the inbox again as soon as the service worker has received a message. */
function useFollowPush(): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!("serviceWorker" in navigator)) return undefined;
    const { serviceWorker } = navigator;
    const follow = ({ data }: MessageEvent<unknown>) => {
      if (data === "notified") void queryClient.invalidateQueries({ queryKey: INBOX_KEY });
    };
    serviceWorker.addEventListener("message", follow);
    return () => serviceWorker.removeEventListener("message", follow);
  }, [queryClient]);
}
