import { ScanSearch } from "lucide-react";
import { ShieldCheck } from "../../../ui/icons.ts";
import { request } from "../../../api/http.ts";
import { useSetTextSearch, useTextSearch } from "../../../base/search-params.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import type { Column } from "../../../ui/data-table.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { formatBytes, formatDateTime, formatNumber } from "../../../base/format.ts";
import { Select } from "../../../ui/select.tsx";
import { toast } from "../../../ui/toast.tsx";
import { text } from "../text.ts";
import type { Finding, Job } from "../types.ts";
import { useAction, useAdminData } from "../api.ts";
import { PagedTable, usePage } from "../paged-table.tsx";

const STATES = ["open", "resolved", "all"] as const;

/** Integrity findings, and how long ago every byte was last verified. */
export function FindingsSection() {
  const search = useTextSearch();
  const setSearch = useSetTextSearch();
  const state = STATES.find((known) => known === search["state"]) ?? "open";
  const [page, setPage] = usePage();
  const query = useAdminData("GET /api/admin/findings", { query: { state, page } });
  const stats = useAdminData("GET /api/admin/stats");
  const readNow = useAction(
    () => request<Job>("POST", "/api/admin/jobs/scrub/run"),
    ({ isRunning, lastResult, name }) =>
      toast({ text: isRunning ? text.jobStarted({ name }) : (lastResult ?? text.jobDone({ name })) }),
  );
  const { readWithinDays = null, scrubWithinDays = 0 } = stats.data?.integrity ?? {};
  return (
    <>
      <p className="mb-4 max-w-3xl text-sm text-muted">
        {text.findingsHint}{" "}
        {stats.data !== undefined &&
          (readWithinDays === null
            ? text.nothingStored
            : text.checkedWithin({ days: Math.max(Math.ceil(readWithinDays), 1), target: scrubWithinDays }))}
      </p>
      <div className="mb-4 flex flex-wrap items-end justify-between gap-3">
        <Select
          label={text.state}
          value={state}
          onChange={(chosen) => setSearch({ state: chosen === "open" ? undefined : chosen, page: undefined })}
          options={STATES.map((value) => ({ value, label: text.findingStates(value) }))}
          className="w-44"
        />
        <Button icon={ScanSearch} busy={readNow.isPending} onClick={() => readNow.mutate()}>
          {text.checkNow}
        </Button>
      </div>
      <PagedTable
        query={query}
        rowsOf={({ findings }) => findings}
        empty={
          <EmptyState icon={ShieldCheck} title={text.noFindings}>
            {stats.data !== undefined && text.noFindingsHint({ days: scrubWithinDays })}
          </EmptyState>
        }
        caption={text.findings}
        columns={columns()}
        onPage={setPage}
      />
    </>
  );
}

function columns(): Column<Finding>[] {
  return [
    {
      key: "finding",
      title: text.finding,
      isHeader: true,
      cell: ({ kind, detail }) => (
        <>
          <Badge tone="danger">{text.findingKinds(kind)}</Badge>
          <span className="block font-normal">{detail}</span>
        </>
      ),
    },
    {
      key: "content",
      title: text.content,
      cell: ({ checksum, size }) => (
        <>
          <code className="text-xs break-all">{checksum ?? ""}</code>
          {size !== null && <span className="block text-xs text-muted">{formatBytes(size)}</span>}
        </>
      ),
    },
    { key: "files", title: text.affectedFiles, align: "end", cell: ({ files }) => formatNumber(files) },
    { key: "found", title: text.found, cell: ({ foundAt }) => formatDateTime(foundAt) },
    {
      key: "resolved",
      title: text.resolved,
      cell: ({ resolvedAt, resolution }) =>
        resolvedAt === null ? "" : `${formatDateTime(resolvedAt)} (${resolution ?? ""})`,
    },
  ];
}
