import { Dialog as Base } from "@base-ui/react/dialog";
import type { FileRecord } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { FileIcon } from "../../ui/file-icon.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { IconLink } from "../../ui/icon-link.tsx";
import { EllipsisVertical, X } from "../../ui/icons.ts";
import { Menu } from "../../ui/menu.tsx";
import type { MenuItem } from "../../ui/menu-items.ts";
import type { PreviewAction } from "./actions.ts";
import { text } from "./text.ts";

/** From this width on, actions that need room are in the bar. */
const ROOMY = window.matchMedia("(min-width: 40rem)");

/** The name and position of the file, and the actions on it. */
export function PreviewHeader({
  file,
  position,
  actions,
  onClose,
}: {
  readonly file: FileRecord;
  /** Empty until it is known. */
  readonly position: string;
  readonly actions: readonly PreviewAction[];
  readonly onClose: () => void;
}) {
  const inBar = actions.filter(({ shownIn }) => shownIn === "bar" || shownIn === "wide");
  const hasMenu = actions.some(({ shownIn }) => shownIn !== "bar" && shownIn !== "wide");
  return (
    <header className="flex items-center gap-1 border-b border-line bg-raised px-2 py-1.5 sm:gap-2 sm:px-4">
      <FileIcon mimeType={file.mimeType} className="hidden sm:block" />
      <div className="min-w-0 flex-1">
        <Base.Title className="truncate text-sm font-medium sm:text-base">{file.name}</Base.Title>
        <p className="min-h-4 text-xs text-muted">{position}</p>
      </div>
      {inBar.map((action) => (
        <BarAction key={action.label} action={action} />
      ))}
      <Menu
        align="end"
        label={text.more}
        items={() => menuItems(actions)}
        trigger={
          <IconButton
            label={text.more}
            icon={EllipsisVertical}
            hasTooltip={false}
            className={cx(!hasMenu && "sm:hidden")}
          />
        }
      />
      <IconButton label={text.close} icon={X} onClick={onClose} />
    </header>
  );
}

function BarAction({ action }: { readonly action: PreviewAction }) {
  const { label, name, icon: Icon, run, href, download, shownIn, isPressed } = action;
  if (Icon === undefined) return null;
  const className = cx(shownIn === "wide" && "max-sm:hidden");
  if (href === undefined) {
    return (
      <IconButton
        label={name ?? label}
        icon={Icon}
        onClick={run}
        className={className}
        {...(isPressed !== undefined && { "aria-pressed": isPressed })}
      />
    );
  }
  return (
    <IconLink
      label={label}
      name={name}
      icon={Icon}
      href={href}
      className={className}
      {...(download !== undefined && { download })}
    />
  );
}

/** The actions that are not in the bar at the current width. */
function menuItems(actions: readonly PreviewAction[]): readonly MenuItem[] {
  return actions.filter(({ shownIn }) => shownIn !== "bar" && (shownIn !== "wide" || !ROOMY.matches));
}
