import { type ReactNode, useEffect } from "react";
import { uiText } from "./text.ts";

/** The layout of pages for signed-out people: one centered card, and nothing that needs an account. */
export function SignInLayout({ title, lead, children }: { title: string; lead?: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${uiText.product}`;
  }, [title]);
  return (
    <main className="flex min-h-dvh flex-col items-center bg-surface px-4 py-8 sm:justify-center">
      <p className="mb-6 flex items-center gap-2.5 text-lg font-semibold text-accent">
        <Jar />
        {uiText.product}
      </p>
      <div className="flex w-full max-w-md flex-col gap-5 rounded-2xl border border-line bg-raised p-5 shadow-sm sm:p-8">
        <div>
          <h1 className="text-2xl font-semibold">{title}</h1>
          {lead !== undefined && <p className="text-muted">{lead}</p>}
        </div>
        {children}
      </div>
    </main>
  );
}

/** The logo: a jar on a shelf. */
function Jar() {
  return (
    <svg
      aria-hidden
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      className="size-8"
    >
      <path d="M8 3h8v3H8zM8 6c0 1.5-2 2-2 4.5V18a2 2 0 0 0 2 2h8a2 2 0 0 0 2-2v-7.5c0-2.5-2-3-2-4.5M6 12.5h12M3 22.5h18" />
    </svg>
  );
}
