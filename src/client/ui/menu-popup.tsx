import { Menu as Base } from "@base-ui/react/menu";
import { Check, ChevronRight } from "./icons.ts";
import { keyCaps } from "../base/shortcuts.ts";
import { cx } from "./cx.ts";
import type { MenuEntry, MenuItem } from "./menu-items.ts";

const POPUP =
  "appear z-50 min-w-48 max-w-80 max-h-[var(--available-height)] overflow-y-auto rounded-xl border border-line bg-raised py-1.5 text-sm text-ink shadow-xl outline-none";
const ROW =
  "control flex w-full items-center gap-3 px-3.5 text-start text-ink no-underline outline-none select-none data-highlighted:bg-sunken data-disabled:opacity-50 data-popup-open:bg-sunken";

/** On phones a menu can cover its anchor: neither above nor below it is enough space for a long one. */
const PHONE = window.matchMedia("(max-width: 40rem)");

/** What the menu is positioned at: a control, or the point of the pointer. */
export type MenuAnchor = Element | { getBoundingClientRect: () => DOMRect };

/** An open menu. A separate script, preloaded when the page is idle. */
export function MenuPopup({
  open,
  onClose,
  anchor,
  items,
  align,
  label,
  returnFocus,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly anchor: MenuAnchor | null;
  readonly items: readonly MenuItem[];
  readonly align: "start" | "center" | "end";
  readonly label: string;
  /** The element that gets the focus back. */
  readonly returnFocus: HTMLElement | null;
}) {
  return (
    <Base.Root
      open={open}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Base.Portal>
        {/* The popup is outside of the page's landmarks in the document, so it needs a landmark of its own. */}
        <section aria-label={label}>
          <Base.Positioner
            anchor={anchor}
            align={align}
            sideOffset={4}
            collisionPadding={8}
            collisionAvoidance={{ side: PHONE.matches ? "shift" : "flip" }}
            className="z-50 outline-none"
          >
            <Base.Popup
              className={POPUP}
              finalFocus={() => (isFocusElsewhere() ? false : returnFocus)}
              aria-label={label}
            >
              <Lines items={items} />
            </Base.Popup>
          </Base.Positioner>
        </section>
      </Base.Portal>
    </Base.Root>
  );
}

/** Whether the chosen action has focused something, for example the field to rename a file. */
function isFocusElsewhere(): boolean {
  const focused = document.activeElement;
  return focused !== null && focused !== document.body && focused.closest('[role="menu"]') === null;
}

function Lines({ items }: { readonly items: readonly MenuItem[] }) {
  return items.map((item, index) =>
    item === null ? (
      // oxlint-disable-next-line react/no-array-index-key -- separators have no name
      <Base.Separator key={`rule-${index}`} className="my-1.5 h-px bg-line" />
    ) : (
      <Line key={item.label} item={item} />
    ),
  );
}

function Line({ item }: { readonly item: MenuEntry }) {
  const { label, run, href, download, disabled = false, checked, staysOpen = false, items } = item;
  const className = cx(ROW, item.danger === true && "text-danger");
  if (items !== undefined) {
    return (
      <Base.SubmenuRoot disabled={disabled}>
        <Base.SubmenuTrigger label={label} className={className}>
          <EntryLabel item={item} />
          <ChevronRight aria-hidden size={16} className="ms-auto rtl:rotate-180" />
        </Base.SubmenuTrigger>
        <Base.Portal>
          <section aria-label={label}>
            <Base.Positioner collisionPadding={8} className="z-50 outline-none">
              <Base.Popup className={POPUP} aria-label={label}>
                <Lines items={items} />
              </Base.Popup>
            </Base.Positioner>
          </section>
        </Base.Portal>
      </Base.SubmenuRoot>
    );
  }
  if (href !== undefined && !disabled) {
    return (
      <Base.LinkItem
        href={href}
        closeOnClick
        {...(download !== undefined && { download: download === true ? "" : download })}
        className={className}
      >
        <EntryLabel item={item} />
      </Base.LinkItem>
    );
  }
  if (checked !== undefined) {
    return (
      <Base.CheckboxItem
        checked={checked}
        disabled={disabled}
        closeOnClick={!staysOpen}
        onCheckedChange={() => run?.()}
        className={className}
      >
        <span aria-hidden className="inline-flex w-4.5 shrink-0">
          {checked && <Check size={18} />}
        </span>
        <EntryLabel item={item} />
      </Base.CheckboxItem>
    );
  }
  return (
    <Base.Item disabled={disabled} onClick={() => run?.()} className={className}>
      <EntryLabel item={item} />
    </Base.Item>
  );
}

function EntryLabel({ item: { icon: Icon, label, keys, hint } }: { readonly item: MenuEntry }) {
  return (
    <>
      {Icon !== undefined && <Icon aria-hidden size={18} className="shrink-0" />}
      <span className="min-w-0 flex-1 truncate">
        {label}
        {hint !== undefined && <span className="block max-w-64 pb-1 text-xs whitespace-normal">{hint}</span>}
      </span>
      {keys !== undefined && (
        <span aria-hidden className="ms-4 text-xs text-muted pointer-coarse:hidden">
          {keyCaps(keys.split(" ")[0] ?? "").join("+")}
        </span>
      )}
    </>
  );
}
