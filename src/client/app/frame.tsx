import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { useCallback, useRef, useState } from "react";
import { lazyPart } from "../ui/lazy-part.ts";
import { useTrayNeeded } from "../features/uploads/use-tray-needed.ts";
import { Banners } from "./banners.tsx";
import { isAt, mainNavItems } from "./navigation.ts";
import { OptionalPart } from "./optional-part.tsx";
import { PageBoundary, PartBoundary } from "./page-boundary.tsx";
import { useSession } from "../api/session.ts";
import { useOverlay } from "../base/overlays.ts";
import { useShortcuts } from "../base/shortcuts.ts";
import { NewButton, SideBar } from "./side-bar.tsx";
import { TopBar } from "./top-bar.tsx";
import { useScrollingDown } from "./use-scrolling-down.ts";
import { cx } from "../ui/cx.ts";
import { frameText } from "./text.ts";
import { showError } from "../ui/toast.tsx";

const Help = lazyPart(() => import("./help.tsx").then((part) => part.Help));
const Drawer = lazyPart(() => import("./drawer.tsx").then((part) => part.Drawer));
const ConfirmEmailNotice = lazyPart(() =>
  import("../features/confirm-email/confirm-email-notice.tsx").then((part) => part.ConfirmEmailNotice),
);
const UploadTray = lazyPart(() => import("../features/uploads/tray/upload-tray.tsx").then((part) => part.UploadTray));

/** Pages on which phones show the round "New" button. On other pages it would only cover content. */
const PATHS_WITH_NEW_BUTTON = ["/home", "/files", "/photos"] as const;

/** The frame of all pages of a signed-in person: top bar, sidebar and navigation around one page. */
export function Frame() {
  const { user } = useSession();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const searchRef = useRef<HTMLInputElement>(null);
  const drawer = useOverlay("menu");
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  // How "Share → Larder" opened the page. Read at once, because the address may have changed by the time the tray is
  // loaded.
  const [sharedAs] = useState(() => new URLSearchParams(window.location.search).get("shared"));
  const isTrayNeeded = useTrayNeeded(sharedAs !== null);
  const openHelp = useCallback(() => setIsHelpOpen(true), []);
  useShortcuts(frameText.allPages, [
    { keys: "/ mod+k", label: frameText.search, run: () => focusSearch(searchRef.current) },
    { keys: "shift+h", label: frameText.goHome, run: () => void navigate({ to: "/home" }) },
    { keys: "?", label: frameText.keyboardHelp, run: openHelp },
  ]);
  return (
    <div className="flex h-dvh flex-col bg-surface">
      <SkipLink />
      <Banners />
      {!user.emailVerified && (
        <OptionalPart>
          <ConfirmEmailNotice />
        </OptionalPart>
      )}
      <TopBar searchRef={searchRef} onMenu={() => drawer.open("open")} onHelp={openHelp} />
      <div className="flex min-h-0 flex-1">
        <aside className="hidden w-58 shrink-0 overflow-y-auto lg:block">
          <SideBar />
        </aside>
        <main
          id="main"
          tabIndex={-1}
          data-scroll-restoration-id="main"
          className="min-w-0 flex-1 overflow-y-auto border-line bg-raised sm:mx-2 sm:rounded-t-2xl sm:border sm:border-b-0 lg:ms-0"
        >
          <PageBoundary address={pathname}>
            <Outlet />
          </PageBoundary>
        </main>
      </div>
      <BottomBar pathname={pathname} />
      {user.role !== "viewer" && PATHS_WITH_NEW_BUTTON.some((path) => isAt(pathname, path)) && (
        <FloatingNewButton pathname={pathname} />
      )}
      {drawer.value !== undefined && (
        <PartBoundary address={pathname} onFailed={(error) => closeFailed(error, drawer.close)}>
          <Drawer onClose={drawer.close} />
        </PartBoundary>
      )}
      {isHelpOpen && (
        <PartBoundary address={pathname} onFailed={(error) => closeFailed(error, () => setIsHelpOpen(false))}>
          <Help open onClose={() => setIsHelpOpen(false)} />
        </PartBoundary>
      )}
      {isTrayNeeded && (
        <OptionalPart>
          <UploadTray sharedAs={sharedAs} />
        </OptionalPart>
      )}
    </div>
  );
}

/** The round "New" button. It moves out of the way while the person scrolls down, so that it covers no entry. */
function FloatingNewButton({ pathname }: { readonly pathname: string }) {
  const control = useRef<HTMLDivElement>(null);
  const isHidden = useScrollingDown(control, pathname);
  return (
    <div
      ref={control}
      data-floating-action
      inert={isHidden}
      className={cx(
        "fixed end-4 bottom-20 z-30 transition-[translate,opacity] motion-reduce:transition-none sm:bottom-6 lg:hidden",
        isHidden && "translate-y-16 opacity-0",
      )}
    >
      <NewButton isRound />
    </div>
  );
}

function focusSearch(field: HTMLInputElement | null): void {
  field?.focus();
  field?.select();
}

/** Lets keyboard users skip the navigation. */
function SkipLink() {
  return (
    <a
      href="#main"
      onClick={(event) => {
        event.preventDefault();
        document.querySelector<HTMLElement>("#main")?.focus();
      }}
      className="sr-only focus:not-sr-only focus:fixed focus:start-3 focus:top-3 focus:z-70 focus:rounded-lg focus:bg-accent focus:px-4 focus:py-2.5 focus:text-on-accent"
    >
      {frameText.skipToContent}
    </a>
  );
}

/** Closes a part that the person opened and that could not be loaded, so that they can try again. */
function closeFailed(error: unknown, close: () => void): void {
  close();
  showError(error);
}

/** What the bottom bar of phones has no room for. */
const ONLY_IN_MENU: ReadonlySet<string> = new Set(["/favorites", "/shared/by-me", "/trash", "/history"]);

/** Phones: the items that are reached by the thumb. */
function BottomBar({ pathname }: { readonly pathname: string }) {
  const items = mainNavItems().filter(({ path }) => !ONLY_IN_MENU.has(path));
  return (
    <nav
      aria-label={frameText.quickNavigation}
      className="flex shrink-0 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] sm:hidden"
    >
      {items.map(({ path, label, icon: Icon }) => (
        <Link
          key={path}
          to={path}
          {...((isAt(pathname, path) || (path === "/shared/with-me" && isAt(pathname, "/shared/by-me"))) && {
            "aria-current": "page" as const,
          })}
          // A bold font is wider, and would cut long names.
          className="flex min-h-14 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 px-0.5 text-xs text-muted no-underline aria-[current=page]:text-accent aria-[current=page]:[-webkit-text-stroke:0.4px]"
        >
          <Icon aria-hidden size={22} />
          <span className="max-w-full truncate">{path === "/shared/with-me" ? frameText.shared : label}</span>
        </Link>
      ))}
    </nav>
  );
}
