import { useNavigate } from "@tanstack/react-router";
import { Keyboard, Menu as MenuIcon, Moon, Sun, SunMoon } from "lucide-react";
import { LogOut, Settings } from "../ui/icons.ts";
import type { RefObject } from "react";
import { messageOf } from "../api/http.ts";
import { Avatar } from "../ui/avatar.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { lazyPart } from "../ui/lazy-part.ts";
import { Menu } from "../ui/menu.tsx";
import { toast } from "../ui/toast.tsx";
import { uiText } from "../ui/text.ts";
import { Tooltip } from "../ui/tooltip.tsx";
import { useWasIdle } from "../ui/use-was-idle.ts";
import { useSession, signOut } from "../api/session.ts";
import { setTheme, useTheme } from "../base/theme.ts";
import { OptionalPart } from "./optional-part.tsx";
import { SearchField } from "./search-field.tsx";
import { frameText } from "./text.ts";

const InboxBell = lazyPart(() => import("../features/inbox/inbox-bell.tsx").then((part) => part.InboxBell));

/** The product name, the search field and the account menu. */
export function TopBar({
  searchRef,
  onMenu,
  onHelp,
}: {
  readonly searchRef: RefObject<HTMLInputElement | null>;
  readonly onMenu: () => void;
  readonly onHelp: () => void;
}) {
  // Not needed at first: it loads when the page is drawn.
  const isIdle = useWasIdle();
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 px-2 sm:gap-3 sm:px-4">
      <IconButton label={frameText.menu} icon={MenuIcon} onClick={onMenu} className="lg:hidden" />
      <p className="hidden text-lg font-semibold tracking-tight text-accent sm:block lg:w-52 lg:ps-3">
        {uiText.product}
      </p>
      <SearchField inputRef={searchRef} />
      <div className="ms-auto flex items-center gap-1">
        {/* Its place is reserved: the search field must not jump. */}
        <span className="inline-flex size-11 items-center justify-center">
          {isIdle && (
            <OptionalPart>
              <InboxBell />
            </OptionalPart>
          )}
        </span>
        <AccountMenu onHelp={onHelp} />
      </div>
    </header>
  );
}

function AccountMenu({ onHelp }: { readonly onHelp: () => void }) {
  const { user } = useSession();
  const theme = useTheme();
  const navigate = useNavigate();
  const name = user.name === "" ? user.email : user.name;
  return (
    <Menu
      align="end"
      trigger={
        <button
          type="button"
          aria-label={frameText.account({ name })}
          className="inline-flex size-11 items-center justify-center rounded-full hover:bg-sunken"
        >
          <Tooltip text={user.email}>
            <span>
              <Avatar
                name={name}
                size={34}
                picture={user.avatar === null ? undefined : { id: user.id, ...user.avatar }}
              />
            </span>
          </Tooltip>
        </button>
      }
      items={[
        {
          label: frameText.settings,
          icon: Settings,
          run: () => void navigate({ to: "/settings/$section", params: { section: "profile" } }),
        },
        {
          label: frameText.theme,
          icon: SunMoon,
          items: [
            { label: frameText.themeSystem, icon: SunMoon, checked: theme === "system", run: () => setTheme("system") },
            { label: frameText.themeLight, icon: Sun, checked: theme === "light", run: () => setTheme("light") },
            { label: frameText.themeDark, icon: Moon, checked: theme === "dark", run: () => setTheme("dark") },
          ],
        },
        { label: frameText.keyboardHelp, icon: Keyboard, keys: "?", run: onHelp },
        null,
        {
          label: frameText.signOut,
          icon: LogOut,
          run: () => {
            signOut().catch((error: unknown) =>
              toast({ text: frameText.signingOutFailed({ why: messageOf(error) }), tone: "danger" }),
            );
          },
        },
      ]}
    />
  );
}
