import { Link } from "@tanstack/react-router";
import { text } from "../../../entries/sharing/text.ts";

const TABS = [
  { path: "/shared/with-me", label: () => text.withMeTitle },
  { path: "/shared/by-me", label: () => text.byMeTitle },
] as const;

/** Links between the two lists of shares, on phones: the bar at the bottom has one entry for both. */
export function SharedTabs({ current }: { readonly current: (typeof TABS)[number]["path"] }) {
  return (
    <nav aria-label={text.sharedLists} className="mb-4 flex gap-1 sm:hidden">
      {TABS.map(({ path, label }) => (
        <Link
          key={path}
          to={path}
          search={{}}
          {...(path === current && { "aria-current": "page" as const })}
          className="control flex flex-1 items-center justify-center rounded-full bg-sunken px-3 text-center text-sm text-ink no-underline aria-[current=page]:bg-accent-soft aria-[current=page]:font-semibold aria-[current=page]:text-accent"
        >
          {label()}
        </Link>
      ))}
    </nav>
  );
}
