import { useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { OfflineError } from "../api/http.ts";
import { showError } from "../ui/toast.tsx";
import { PartBoundary } from "./page-boundary.tsx";

/** How soon to try to load the part again. */
const RETRY_MS = 5_000;

/** A part that the person did not ask for. If it can't be loaded, the page stays without it, and loads it later. */
export function OptionalPart({ children }: { readonly children: ReactNode }) {
  const { pathname } = useLocation();
  return (
    <PartBoundary address={pathname} retryMs={RETRY_MS} onFailed={showFailure}>
      {children}
    </PartBoundary>
  );
}

/** A lost connection is already shown by the banner. */
function showFailure(error: unknown): void {
  if (!(error instanceof OfflineError)) showError(error);
}
