import { useMutation } from "@tanstack/react-query";
import { MailWarning } from "lucide-react";
import { useEffect } from "react";
import { messageOf, request } from "../../api/http.ts";
import { loadSession, useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { toast } from "../../ui/toast.tsx";
import { text } from "./text.ts";

/** Shown above every page until the account's email is confirmed. */
export function ConfirmEmailNotice() {
  const { user } = useSession();
  useEffect(() => {
    // The link opens in another tab or program, so a person who returns has often just confirmed.
    const checkWhenVisible = () => {
      if (!document.hidden) void checkConfirmed();
    };
    document.addEventListener("visibilitychange", checkWhenVisible);
    return () => document.removeEventListener("visibilitychange", checkWhenVisible);
  }, []);
  const send = useMutation({
    mutationFn: () => request<{ readonly sent: boolean }>("POST", "/api/auth/email/send"),
    onSuccess: async ({ sent }) => {
      if (sent) toast({ id: "confirm-email", text: text.sent({ email: user.email }), tone: "success" });
      else await checkConfirmed();
    },
    onError: (error) => toast({ id: "confirm-email", text: messageOf(error), tone: "danger" }),
  });
  return (
    <section
      aria-label={text.title}
      className="flex flex-wrap items-center gap-x-3 gap-y-1.5 bg-warning-soft px-4 py-1.5 text-sm text-warning"
    >
      <MailWarning aria-hidden size={18} className="shrink-0" />
      <p className="min-w-0 flex-1 basis-60 wrap-anywhere">{text.lead({ email: user.email })}</p>
      <Button size="small" busy={send.isPending} onClick={() => send.mutate()}>
        {text.send}
      </Button>
    </section>
  );
}

async function checkConfirmed(): Promise<void> {
  try {
    const known = await loadSession();
    if (known?.user.emailVerified === true) toast({ id: "confirm-email", text: text.confirmed, tone: "success" });
  } catch {
    // Not reached: the frame shows that, and the notice stays until the next return.
  }
}
