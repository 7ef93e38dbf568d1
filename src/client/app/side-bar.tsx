import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { FolderUp, HardDrive } from "lucide-react";
import { type MouseEvent, useEffect, useState } from "react";
import { useOverlay } from "../base/overlays.ts";
import { whenUsed } from "../base/when-used.ts";
import { Plus, Upload } from "../ui/icons.ts";
import { usageQuery } from "../api/queries.ts";
import { type DropAction, useDropAction } from "../entries/collection/entry-drop.ts";
import { useIsWide } from "../entries/details-state.ts";
import { useWasIdle } from "../ui/use-was-idle.ts";
import { Button } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { formatBytes } from "../base/format.ts";
import { lazyPart, loadScript } from "../ui/lazy-part.ts";
import { Menu } from "../ui/menu.tsx";
import type { MenuItem } from "../ui/menu-items.ts";
import { Progress } from "../ui/progress.tsx";
import { isAt, mainNavItems, type NavItem, settingsNavItems } from "./navigation.ts";
import { OptionalPart } from "./optional-part.tsx";
import { useOfferedNewMenu } from "../ui/new-menu.ts";
import { useSession } from "../api/session.ts";
import { frameText } from "./text.ts";
import { showError } from "../ui/toast.tsx";

const FolderSection = lazyPart(() => import("./folder-section.tsx").then((part) => part.FolderSection));
const PinList = lazyPart(() => import("../entries/pins/pin-list.tsx").then((part) => part.PinList));

/** The "New" button, the navigation and the storage meter. In the drawer, a link replaces its history entry. */
export function SideBar({ isInDrawer = false }: { readonly isInDrawer?: boolean }) {
  const { user } = useSession();
  return (
    <div className="flex min-h-full flex-col gap-4 p-3">
      {user.role !== "viewer" && <NewButton />}
      <nav aria-label={frameText.mainNavigation} className="flex flex-1 flex-col gap-4">
        <NavList items={mainNavItems()} isInDrawer={isInDrawer} />
        <Pins isInDrawer={isInDrawer} />
        {!isInDrawer && <Folders />}
        <div className="mt-auto">
          <NavList items={settingsNavItems(user.role)} isInDrawer={isInDrawer} />
        </div>
      </nav>
      <StorageMeter />
    </div>
  );
}

/** The folder tree of wide screens. Only an action needs it, so it loads when the person first uses the page. */
function Folders() {
  const [isUsed, setUsed] = useState(false);
  useEffect(() => whenUsed(() => setUsed(true)), []);
  const isWide = useIsWide();
  return (
    isUsed &&
    isWide && (
      <OptionalPart>
        <FolderSection />
      </OptionalPart>
    )
  );
}

/** The pins, once the page is idle. On a phone, only the drawer shows them, so what the page shows is not delayed. */
function Pins({ isInDrawer }: { readonly isInDrawer: boolean }) {
  const isIdle = useWasIdle();
  const isWide = useIsWide();
  const { close } = useOverlay("menu");
  return (
    isIdle &&
    (isWide || isInDrawer) && (
      <OptionalPart>
        <PinList isInDrawer={isInDrawer} onSamePage={close} />
      </OptionalPart>
    )
  );
}

function NavList({ items, isInDrawer }: { readonly items: readonly NavItem[]; readonly isInDrawer: boolean }) {
  const { pathname } = useLocation();
  const { close } = useOverlay("menu");
  /** The link to the page itself must not add it to the history again. */
  const onClick = (event: MouseEvent, path: string) => {
    if (!isInDrawer || path !== pathname) return;
    event.preventDefault();
    close();
  };
  return (
    <ul className="flex flex-col gap-0.5">
      {items.map((item) => (
        <li key={item.path}>
          <NavLink
            item={item}
            replace={isInDrawer}
            isCurrent={isAt(pathname, item.path)}
            onClick={(event) => onClick(event, item.path)}
          />
        </li>
      ))}
    </ul>
  );
}

/** What a drop of entries on a link does. */
const DROP_ACTIONS: Partial<Record<NavItem["path"], DropAction>> = { "/favorites": "favorite", "/trash": "trash" };

function NavLink({
  item: { path, label, icon: Icon },
  replace,
  isCurrent,
  onClick,
}: {
  readonly item: NavItem;
  readonly replace: boolean;
  readonly isCurrent: boolean;
  readonly onClick: (event: MouseEvent) => void;
}) {
  const { isOver, handlers } = useDropAction(DROP_ACTIONS[path]);
  return (
    <Link
      to={path}
      replace={replace}
      onClick={onClick}
      {...handlers}
      {...(isCurrent && { "aria-current": "page" as const })}
      className={cx(
        "control flex items-center gap-3 rounded-full px-4 text-sm font-medium text-ink no-underline hover:bg-sunken aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent",
        isOver && "bg-accent-soft ring-2 ring-accent",
      )}
    >
      <Icon aria-hidden size={20} className="shrink-0" />
      <span className="truncate">{label}</span>
    </Link>
  );
}

/** The "New" button: uploads, and the entries of the current page. */
export function NewButton({ isRound = false }: { readonly isRound?: boolean }) {
  const { items, folder, canUpload = true } = useOfferedNewMenu();
  const offered = (): MenuItem[] => [
    ...items,
    ...(items.length > 0 && canUpload ? [null] : []),
    ...(canUpload
      ? [
          { label: frameText.uploadFiles, icon: Upload, run: () => pick("files", folder) },
          { label: frameText.uploadFolder, icon: FolderUp, run: () => pick("folder", folder) },
        ]
      : []),
  ];
  if (!canUpload && items.length === 0) return null;
  return (
    <Menu
      items={offered}
      trigger={
        isRound ? (
          <button
            type="button"
            aria-label={frameText.new}
            className="inline-flex size-14 items-center justify-center rounded-2xl bg-accent text-on-accent shadow-lg hover:bg-accent-hover"
          >
            <Plus aria-hidden size={26} />
          </button>
        ) : (
          <Button variant="primary" size="large" icon={Plus} className="self-start rounded-2xl shadow-sm">
            {frameText.new}
          </Button>
        )
      }
    />
  );
}

function pick(what: "files" | "folder", folder: string): void {
  const uploads = loadScript(() => import("../features/uploads/uploads.ts"));
  uploads
    .then(({ uploads: engine }) => (what === "files" ? engine.pickFiles(folder) : engine.pickFolder(folder)))
    .catch(showError);
}

function StorageMeter() {
  // What the page shows comes first.
  const isIdle = useWasIdle();
  const { data } = useQuery({ ...usageQuery, enabled: isIdle });
  if (data === undefined) return <div className="h-14" />;
  const { used, quota, percentage } = data.storage;
  const tone = percentage >= 95 ? "danger" : percentage >= 80 ? "warning" : "accent";
  return (
    <div className="px-4 text-sm text-muted">
      <p className="mb-1.5 flex items-center gap-2 font-medium text-ink">
        <HardDrive aria-hidden size={16} />
        {frameText.storage}
      </p>
      {quota !== null && <Progress value={percentage / 100} label={frameText.storage} tone={tone} className="mb-1.5" />}
      <p className={cx(tone === "danger" && "text-danger")}>
        {quota === null
          ? frameText.storageUsed({ used: formatBytes(used) })
          : frameText.storageOf({ used: formatBytes(used), quota: formatBytes(quota) })}
      </p>
    </div>
  );
}
