import { Link, useParams } from "@tanstack/react-router";
import {
  Bell,
  Cable,
  ChevronDown,
  Gauge,
  Import,
  Key,
  type LucideIcon,
  MonitorSmartphone,
  Palette,
  Smartphone,
  UserRound,
  UserRoundX,
} from "lucide-react";
import { ShieldCheck } from "../../ui/icons.ts";
import { type ComponentType, Suspense } from "react";
import { href } from "../../base/address.ts";
import { Page } from "../../ui/page.tsx";
import { Button } from "../../ui/button.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { Menu } from "../../ui/menu.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useAppPasswords, useList } from "./api.ts";
import { text } from "./text.ts";

interface Section {
  readonly name: string;
  readonly icon: LucideIcon;
  readonly part: ComponentType;
}

const SECTIONS: readonly Section[] = [
  {
    name: "profile",
    icon: UserRound,
    part: lazyPart(() => import("./sections/profile-section.tsx").then((part) => part.ProfileSection)),
  },
  {
    name: "security",
    icon: ShieldCheck,
    part: lazyPart(() => import("./sections/security-section.tsx").then((part) => part.SecuritySection)),
  },
  {
    name: "sessions",
    icon: MonitorSmartphone,
    part: lazyPart(() => import("./sections/sessions-section.tsx").then((part) => part.SessionsSection)),
  },
  {
    name: "connect",
    icon: Cable,
    part: lazyPart(() => import("./sections/connect-section.tsx").then((part) => part.ConnectSection)),
  },
  {
    name: "devices",
    icon: Smartphone,
    part: lazyPart(() => import("./sections/devices-section.tsx").then((part) => part.DevicesSection)),
  },
  {
    name: "api-keys",
    icon: Key,
    part: lazyPart(() => import("./sections/api-keys-section.tsx").then((part) => part.ApiKeysSection)),
  },
  {
    name: "notifications",
    icon: Bell,
    part: lazyPart(() => import("./sections/notifications-section.tsx").then((part) => part.NotificationsSection)),
  },
  {
    name: "import",
    icon: Import,
    part: lazyPart(() => import("./imports/import-section.tsx").then((part) => part.ImportSection)),
  },
  {
    name: "usage",
    icon: Gauge,
    part: lazyPart(() => import("./sections/usage-section.tsx").then((part) => part.UsageSection)),
  },
  {
    name: "appearance",
    icon: Palette,
    part: lazyPart(() => import("./sections/appearance-section.tsx").then((part) => part.AppearanceSection)),
  },
  {
    name: "account",
    icon: UserRoundX,
    part: lazyPart(() => import("./sections/account-section.tsx").then((part) => part.AccountSection)),
  },
];

/** `/settings/$section`: the settings of the person's own account. Unknown sections show the first one. */
export function SettingsPage() {
  const { section: requested } = useParams({ strict: false });
  const [first] = SECTIONS;
  const section = SECTIONS.find(({ name }) => name === requested) ?? first;
  if (section === undefined) return null;
  const { part: Part } = section;
  return (
    <Page title={text.sectionName(section.name)} key={section.name}>
      <div className="flex flex-col gap-5 lg:flex-row lg:gap-8">
        <Navigation current={section.name} />
        <div className="flex min-w-0 flex-1 flex-col gap-4">
          <Suspense fallback={<Skeleton className="h-48" />}>
            <Part />
          </Suspense>
        </div>
      </div>
    </Page>
  );
}

/** The sections: a list at the side, or a menu on narrow screens. */
function Navigation({ current }: { current: string }) {
  const hasDevices = useHasDevices();
  const sections = SECTIONS.filter(({ name }) => name !== "devices" || name === current || hasDevices);
  return (
    <nav aria-label={text.title} className="shrink-0 lg:w-48">
      <ul className="hidden flex-col gap-0.5 lg:flex">
        {sections.map(({ name, icon: Icon }) => (
          <li key={name}>
            <Link
              to="/settings/$section"
              params={{ section: name }}
              {...(name === current && { "aria-current": "page" as const })}
              className="flex min-h-9 items-center gap-3 rounded-lg px-3 text-sm text-ink no-underline hover:bg-sunken aria-[current=page]:bg-accent-soft aria-[current=page]:font-semibold aria-[current=page]:text-accent"
            >
              <Icon aria-hidden size={18} className="shrink-0" />
              {text.sectionName(name)}
            </Link>
          </li>
        ))}
      </ul>
      <div className="lg:hidden">
        <Menu
          trigger={
            <Button>
              {text.allSettings}
              <ChevronDown aria-hidden size={18} />
            </Button>
          }
          items={sections.map(({ name, icon }) => ({
            label: text.sectionName(name),
            icon,
            href: href(`/settings/${name}`),
          }))}
        />
      </div>
    </nav>
  );
}

/** Whether anything syncs with the account; false until that is loaded. */
function useHasDevices(): boolean {
  const { data: devices = [] } = useList("devices");
  const { data: passwords = [] } = useAppPasswords();
  return devices.length + passwords.length > 0;
}
