import { Link, useParams } from "@tanstack/react-router";
import { ChevronDown, ShieldAlert } from "lucide-react";
import { type ComponentType, Suspense } from "react";
import { href } from "../../base/address.ts";
import { Button } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Page } from "../../ui/page.tsx";
import { useSession } from "../../api/session.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { Spinner } from "../../ui/spinner.tsx";
import { HealthSection } from "./sections/health-section.tsx";
import { text } from "./text.ts";

interface Section {
  readonly name: string;
  readonly title: string;
  readonly Content: ComponentType;
}

const UsersSection = lazyPart(() => import("./users/users-section.tsx").then((part) => part.UsersSection));
const GroupsSection = lazyPart(() => import("./groups/groups-section.tsx").then((part) => part.GroupsSection));
const InvitesSection = lazyPart(() => import("./sections/invites-section.tsx").then((part) => part.InvitesSection));
const PlansSection = lazyPart(() => import("./sections/plans-section.tsx").then((part) => part.PlansSection));
const SettingsSection = lazyPart(() => import("./settings/settings-section.tsx").then((part) => part.SettingsSection));
const StorageSection = lazyPart(() => import("./storage/storage-section.tsx").then((part) => part.StorageSection));
const JobsSection = lazyPart(() => import("./sections/jobs-section.tsx").then((part) => part.JobsSection));
const AuditSection = lazyPart(() => import("./sections/audit-section.tsx").then((part) => part.AuditSection));
const FindingsSection = lazyPart(() => import("./sections/findings-section.tsx").then((part) => part.FindingsSection));
const WebhooksSection = lazyPart(() => import("./webhooks/webhooks-section.tsx").then((part) => part.WebhooksSection));
const ImportsSection = lazyPart(() => import("./imports/imports-section.tsx").then((part) => part.ImportsSection));
const ConfigSection = lazyPart(() => import("./sections/config-section.tsx").then((part) => part.ConfigSection));

function sections(): Section[] {
  return [
    { name: "health", title: text.health, Content: HealthSection },
    { name: "users", title: text.users, Content: UsersSection },
    { name: "groups", title: text.groups, Content: GroupsSection },
    { name: "invites", title: text.invites, Content: InvitesSection },
    { name: "settings", title: text.settings, Content: SettingsSection },
    { name: "plans", title: text.plans, Content: PlansSection },
    { name: "storage", title: text.storage, Content: StorageSection },
    { name: "jobs", title: text.jobs, Content: JobsSection },
    { name: "audit", title: text.audit, Content: AuditSection },
    { name: "integrity", title: text.findings, Content: FindingsSection },
    { name: "webhooks", title: text.webhooks, Content: WebhooksSection },
    { name: "imports", title: text.imports, Content: ImportsSection },
    { name: "config", title: text.config, Content: ConfigSection },
  ];
}

/** The administration, one section at a time; for administrators only. */
export function AdminPage() {
  const { user } = useSession();
  const { section } = useParams({ strict: false });
  const known = sections();
  const current = known.find(({ name }) => name === section) ?? known[0];
  if (user.role !== "admin" || current === undefined) {
    return (
      <Page title={text.title}>
        <EmptyState icon={ShieldAlert} title={text.notAllowedTitle}>
          {text.notAllowed}
        </EmptyState>
      </Page>
    );
  }
  const { Content } = current;
  return (
    <Page title={current.title} wide>
      <nav aria-label={text.sections} className="mb-4 md:-mx-1 md:mb-5 md:border-b md:border-line md:pb-3">
        <ul className="hidden flex-wrap gap-1 md:flex">
          {known.map(({ name, title }) => (
            <li key={name}>
              <Link
                to="/admin/$section"
                params={{ section: name }}
                {...(name === current.name && { "aria-current": "page" as const })}
                className="control inline-flex items-center rounded-full px-3 text-sm text-muted no-underline hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
              >
                {title}
              </Link>
            </li>
          ))}
        </ul>
        <div className="md:hidden">
          <Menu
            trigger={
              <Button>
                {text.allSections}
                <ChevronDown aria-hidden size={18} />
              </Button>
            }
            items={known.map(({ name, title }) => ({ label: title, href: href(`/admin/${name}`) }))}
          />
        </div>
      </nav>
      <Suspense fallback={<Spinner />}>
        <Content />
      </Suspense>
    </Page>
  );
}
