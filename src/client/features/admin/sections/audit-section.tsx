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
import { Disclosure } from "../../../ui/disclosure.tsx";
import { DescriptionList } from "../../../ui/description-list.tsx";
import { describeEntry, detailsOf, type NameOf, text as auditText } from "./audit-text.ts";
import { PagedTable, usePage } from "../paged-table.tsx";

/** Accounts whose names are shown: as many as one page has. */
const NAMES_MAX = 100;
const TONES = { done: "success", refused: "warning", failed: "danger" } as const;

/** The audit log: who did what, from where and when; newest first. */
export function AuditSection() {
  const search = useTextSearch();
  const setSearch = useSetTextSearch();
  const [page, setPage] = usePage();
  const filter = filterOf(search);
  const query = useAdminData("GET /api/admin/audit", { query: { ...filter, page, limit: 50 }, keepsPrevious: true });
  const nameOf = useNames();
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
        columns={columns(nameOf)}
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

/** Names of the accounts by id. Of a large server, those of the first accounts; others are shown by email. */
function useNames(): NameOf {
  const { data } = useAdminData("GET /api/admin/users", { query: { limit: NAMES_MAX } });
  const names = new Map(data?.users.map(({ id, name, email }) => [id, name || email]));
  return (person) => (person === null ? undefined : (names.get(person.id ?? "") ?? person.email ?? undefined));
}

function columns(nameOf: NameOf): Column<AuditEntry>[] {
  return [
    {
      key: "when",
      title: text.when,
      cell: ({ at }) => <span className="whitespace-nowrap">{formatDateTime(at)}</span>,
    },
    {
      key: "what",
      title: text.what,
      isHeader: true,
      cell: (entry) => <What entry={entry} sentence={describeEntry(entry, nameOf)} />,
    },
    {
      key: "outcome",
      title: text.auditOutcome,
      cell: ({ outcome }) => <Badge tone={TONES[outcome]}>{text.outcomes(outcome)}</Badge>,
    },
    {
      key: "who",
      title: text.who,
      cell: ({ user, via }) => (
        <>
          <span className="break-words">{user?.email ?? text.notSignedIn}</span>
          <span className="block text-xs text-muted">{text.viaNames(via.kind)}</span>
        </>
      ),
    },
    { key: "where", title: text.where, cell: ({ clientAddress }) => clientAddress ?? "" },
  ];
}

function What({ entry, sentence }: { readonly entry: AuditEntry; readonly sentence: string }) {
  return (
    <>
      {sentence}
      {entry.times > 1 && (
        <span className="ms-2 text-xs font-normal text-muted">{text.timesRepeated({ n: entry.times })}</span>
      )}
      <Disclosure
        title={auditText.details}
        label={auditText.detailsOf({ what: sentence })}
        className="-ms-0.5 max-w-xl text-xs font-normal text-muted"
      >
        <div className="mt-1 text-ink wrap-anywhere">
          <DescriptionList items={detailsOf(entry)} />
        </div>
      </Disclosure>
    </>
  );
}
