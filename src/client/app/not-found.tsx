import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { buttonClassName } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { frameText } from "./text.ts";

/** Shown for unknown addresses. */
export function NotFound() {
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center bg-surface">
      <h1 className="sr-only">{frameText.notFoundTitle}</h1>
      <EmptyState
        icon={Compass}
        title={frameText.notFoundTitle}
        action={
          <Link to="/files" className={buttonClassName({ variant: "primary" })}>
            {frameText.toFiles}
          </Link>
        }
      >
        {frameText.notFoundHint}
      </EmptyState>
    </main>
  );
}
