import { CSPProvider } from "@base-ui/react/csp-provider";
import { DirectionProvider } from "@base-ui/react/direction-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, startTransition } from "react";
import { createRoot } from "react-dom/client";
import { OfflineError } from "./api/http.ts";
import { followOtherTabs, followReturns } from "./api/queries.ts";
import { queryClient } from "./api/query-client.ts";
import { watchConnection } from "./api/connection.ts";
import { applyLocale } from "./app/locale.ts";
import { nextTask } from "./base/next-task.ts";
import { makeRouter } from "./app/router.tsx";
import { setSignOutCheck, watchSession } from "./api/session.ts";
import { applyStoredTheme } from "./base/theme.ts";
import { prepareFormats } from "./base/format.ts";

/** Renders the application into `root`, replacing the static frame. */
export async function mount(root: HTMLElement): Promise<void> {
  applyStoredTheme();
  watchSession();
  setSignOutCheck(async (userId) => {
    const { askBeforeSignOut } = await import("./features/editor/ask-before-sign-out.ts");
    return askBeforeSignOut(userId);
  });
  watchConnection();
  followOtherTabs(queryClient);
  followReturns(queryClient);
  const router = makeRouter();
  await nextTask();
  // The static frame stays until there is something to replace it. The page's script loads in parallel with the
  // session.
  const ready = Promise.all([applyLocale(), router.load()]);
  await nextTask();
  prepareFormats();
  await ready;
  await nextTask();
  // As a transition, so that the page handles clicks and keys during the first render.
  startTransition(() => {
    createRoot(root, { onCaughtError: report }).render(
      <StrictMode>
        <CSPProvider disableStyleElements>
          <DirectionProvider direction={document.documentElement.dir === "rtl" ? "rtl" : "ltr"}>
            <QueryClientProvider client={queryClient}>
              <RouterProvider router={router} />
            </QueryClientProvider>
          </DirectionProvider>
        </CSPProvider>
      </StrictMode>,
    );
  });
}

/** Logs errors that an error boundary caught, except a lost connection, which is not a fault of the page. */
function report(error: unknown, { componentStack }: { readonly componentStack?: string | undefined }): void {
  // oxlint-disable-next-line no-console -- as React does without this
  if (!(error instanceof OfflineError)) console.error(error, componentStack);
}
