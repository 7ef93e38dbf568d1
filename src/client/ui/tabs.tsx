import { Tabs as Base } from "@base-ui/react/tabs";
import { useRouter } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

/** Tabs. Only the selected panel is rendered. */
export function Tabs<T extends string>({
  label,
  value,
  onChange,
  tabs,
}: {
  readonly label: string;
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly tabs: readonly { readonly value: T; readonly label: string; readonly content: ReactNode }[];
}) {
  const active = useRef<HTMLElement>(null);
  useEffect(() => scrollIntoRow(active.current), [value, tabs.length]);
  const router = useRouter();
  // After a navigation, the router restores the position of everything that was scrolled, also of the row.
  useEffect(() => router.subscribe("onRendered", () => scrollIntoRow(active.current)), [router]);
  return (
    <Base.Root
      value={value}
      onValueChange={(chosen: unknown) => {
        const tab = tabs.find((each) => each.value === chosen);
        if (tab !== undefined) onChange(tab.value);
      }}
      className="flex min-h-0 flex-col"
    >
      <Base.List aria-label={label} className="flex shrink-0 gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            ref={tab.value === value ? active : undefined}
            className="control border-b-2 border-transparent px-3 text-sm whitespace-nowrap focus-visible:-outline-offset-2 text-muted hover:text-ink data-active:border-accent data-active:font-medium data-active:text-ink"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className="min-h-0 flex-1 pt-4 outline-none">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}

/** Scrolls the row of tabs until all of this one is visible. Narrow screens do not show all tabs. */
function scrollIntoRow(tab: HTMLElement | null): void {
  const row = tab?.parentElement;
  if (tab === null || row === null || row === undefined) return;
  const [outer, inner] = [row.getBoundingClientRect(), tab.getBoundingClientRect()];
  if (inner.right > outer.right) row.scrollLeft += inner.right - outer.right;
  else if (inner.left < outer.left) row.scrollLeft -= outer.left - inner.left;
}
