import { FileClock } from "lucide-react";
import { Download } from "../../../ui/icons.ts";
import { apiAddress } from "../../../api/http.ts";
import { type TextSearch, useSetTextSearch, useTextSearch } from "../../../base/search-params.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import type { Column } from "../../../ui/data-table.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { formatDateTime } from "../../../base/format.ts";
import { Menu } from "../../../ui/menu.tsx";
import { AuditFilter } from "../audit-filter.tsx";
import { text } from "../text.ts";
import type { AuditEntry } from "../types.ts";
import { useAdminData } from "../api.ts";
import { PagedTable, usePage } from "../paged-table.tsx";

const TONES = { done: "success", refused: "warning", failed: "danger" } as const;

/** The audit log: who did what, from where and when; newest first. */
export function AuditSection() {
  const search = useTextSearch();
  const setSearch = useSetTextSearch();
  const [page, setPage] = usePage();
  const filter = filterOf(search);
  const query = useAdminData("GET /api/admin/audit", { query: { ...filter, page, limit: 50 }, keepsPrevious: true });
  const exportIn = (format: string) => apiAddress("/api/admin/audit/export", { ...filter, format });
  return (
    <>
      <AuditFilter
        // The typed values belong to one address of the page. Another address mounts the filter again.
        key={JSON.stringify(filter)}
        values={search}
        onApply={(values) => setSearch({ ...values, page: undefined }, { push: true })}
      />
      <div className="mb-2 flex justify-end">
        <Menu
          align="end"
          trigger={<Button icon={Download}>{text.export}</Button>}
          items={[
            { label: text.exportCsv, href: exportIn("csv"), download: true },
            { label: text.exportJson, href: exportIn("jsonl"), download: true },
          ]}
        />
      </div>
      <PagedTable
        query={query}
        rowsOf={({ entries }) => entries}
        empty={<EmptyState icon={FileClock} title={text.noEntries} />}
        caption={text.audit}
        columns={columns()}
        onPage={setPage}
      />
    </>
  );
}

/** Converts the filter in the address to API parameters. Days are in the reader's time zone. */
function filterOf({ user, action, outcome, ip, from, to }: TextSearch) {
  return { user, action, outcome, ip, from: startOfDay(from), to: startOfDay(to, 1) };
}

function startOfDay(day: string | undefined, daysLater = 0): string | undefined {
  const [year, month, date] = (day ?? "").split("-").map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  const start = new Date(year, month - 1, date + daysLater);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}

function columns(): Column<AuditEntry>[] {
  return [
    { key: "when", title: text.when, cell: ({ at }) => formatDateTime(at) },
    {
      key: "what",
      title: text.what,
      isHeader: true,
      cell: ({ action, times }) => (
        <>
          <code>{action}</code>
          {times > 1 && <span className="ms-2 text-xs font-normal text-muted">{text.timesRepeated(times)}</span>}
        </>
      ),
    },
    {
      key: "outcome",
      title: text.auditOutcome,
      cell: ({ outcome, reason }) => (
        <>
          <Badge tone={TONES[outcome]}>{text.outcomes(outcome)}</Badge>
          {reason !== null && <span className="block text-xs text-muted">{reason}</span>}
        </>
      ),
    },
    {
      key: "who",
      title: text.who,
      cell: ({ user, via }) => (
        <>
          <span className="break-all">{user?.email ?? user?.id ?? text.notSignedIn}</span>
          <span className="block text-xs text-muted">
            {[text.viaNames(via.kind), via.name].filter(Boolean).join(": ")}
          </span>
        </>
      ),
    },
    {
      key: "whom",
      title: text.target,
      cell: ({ account, target, user, details }) => (
        <>
          {account !== null && account.id !== user?.id && (
            <span className="block break-all">{account.email ?? account.id}</span>
          )}
          {target !== null && (
            <code className="block text-xs break-all">{[target.type, target.id].filter(Boolean).join(" ")}</code>
          )}
          {Object.keys(details).length > 0 && (
            <code className="block max-w-64 text-xs break-all text-muted">{JSON.stringify(details)}</code>
          )}
        </>
      ),
    },
    {
      key: "where",
      title: text.where,
      cell: ({ clientAddress, userAgent }) => (
        <span {...(userAgent !== null && { title: userAgent })}>{clientAddress ?? ""}</span>
      ),
    },
  ];
}
