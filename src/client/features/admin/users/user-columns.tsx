import { planName } from "../../../base/plan-names.ts";
import { Badge } from "../../../ui/badge.tsx";
import type { Column } from "../../../ui/data-table.tsx";
import { formatBytes, formatRelative } from "../../../base/format.ts";
import type { MenuItem } from "../../../ui/menu-items.ts";
import { text } from "../text.ts";
import type { Account } from "../types.ts";
import { PersonAvatar } from "../../../ui/person-avatar.tsx";
import { MoreMenu } from "../../../ui/more-menu.tsx";

/** The display name of an account: its name, or its email if it has none. */
export function nameOf({ name, email }: Account): string {
  return name === "" ? email : name;
}

/** The columns of the accounts table. */
export function userColumns({
  sort,
  order,
  onSort,
  itemsFor,
}: {
  readonly sort: string;
  readonly order: string;
  readonly onSort: (by: string) => void;
  readonly itemsFor: (account: Account) => readonly MenuItem[];
}): Column<Account>[] {
  const sortable = (by: string) => ({
    onSort: () => onSort(by),
    sorted: sort !== by ? undefined : order === "desc" ? ("descending" as const) : ("ascending" as const),
  });
  return [
    {
      key: "name",
      title: text.name,
      isHeader: true,
      ...sortable("name"),
      cell: (account) => <Name account={account} />,
    },
    {
      key: "role",
      title: text.role,
      cell: ({ role }) => <Badge tone={role === "admin" ? "accent" : "neutral"}>{text.roles(role)}</Badge>,
    },
    { key: "plan", title: text.plan, cell: ({ plan }) => planName(plan) },
    {
      key: "storage",
      title: text.storage,
      ...sortable("used"),
      cell: ({ storage, quota }) => (
        <span className="whitespace-nowrap">
          {quota === null
            ? formatBytes(storage.used)
            : text.usedOf({ used: formatBytes(storage.used), quota: formatBytes(quota) })}
        </span>
      ),
    },
    {
      key: "lastActive",
      title: text.lastActive,
      ...sortable("lastActiveAt"),
      cell: ({ lastActiveAt }) => (
        <span className="whitespace-nowrap">{lastActiveAt === null ? text.never : formatRelative(lastActiveAt)}</span>
      ),
    },
    {
      key: "state",
      title: text.state,
      cell: (account) => <State account={account} />,
    },
    {
      key: "actions",
      title: text.actions,
      isTitleHidden: true,
      align: "end",
      cell: (account) => (
        <MoreMenu label={text.actionsFor({ name: nameOf(account) })} items={() => itemsFor(account)} />
      ),
    },
  ];
}

function Name({ account }: { readonly account: Account }) {
  return (
    <span className="flex min-w-0 items-center gap-3">
      <PersonAvatar id={account.id} name={nameOf(account)} />
      <span className="block min-w-0">
        {nameOf(account)}
        {account.name !== "" && <span className="block text-xs font-normal break-all text-muted">{account.email}</span>}
      </span>
    </span>
  );
}

function State({ account: { disabled, twoFactor, emailVerified } }: { readonly account: Account }) {
  return (
    <span className="flex flex-wrap justify-end gap-1 md:justify-start">
      {disabled ? <Badge tone="danger">{text.disabled}</Badge> : <Badge tone="success">{text.enabled}</Badge>}
      {twoFactor && <Badge>{text.twoFactor}</Badge>}
      {!emailVerified && <Badge tone="warning">{text.emailUnconfirmed}</Badge>}
    </span>
  );
}
