import { CSPProvider } from "@base-ui/react/csp-provider";
import { DirectionProvider } from "@base-ui/react/direction-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, startTransition } from "react";
import { createRoot } from "react-dom/client";
import { OfflineError } from "./api/http.ts";
import { followOtherTabs } from "./api/queries.ts";
import { queryClient } from "./api/query-client.ts";
import { watchConnection } from "./api/connection.ts";
import { applyLocale } from "./app/locale.ts";
import { nextTask } from "./base/next-task.ts";
import { makeRouter } from "./app/router.tsx";
import { watchSession } from "./api/session.ts";
import { applyStoredTheme } from "./base/theme.ts";
import { prepareFormats } from "./base/format.ts";

/** Draws the application into `root`, in place of the frame that stands there. */
export async function mount(root: HTMLElement): Promise<void> {
  applyStoredTheme();
  watchSession();
  watchConnection();
  followOtherTabs(queryClient);
  const router = makeRouter();
  await nextTask();
  // The frame stays until there is something to put in its place; the page's script comes beside the session's answer.
  const ready = Promise.all([applyLocale(), router.load()]);
  await nextTask();
  prepareFormats();
  await ready;
  await nextTask();
  // In slices, so that the page takes clicks and keys between them.
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

/** What a boundary has caught, and told in its place: that the line is down is no fault of the page. */
function report(error: unknown, { componentStack }: { readonly componentStack?: string | undefined }): void {
  // oxlint-disable-next-line no-console -- as React does without this
  if (!(error instanceof OfflineError)) console.error(error, componentStack);
}
