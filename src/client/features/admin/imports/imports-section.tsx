import { Ban, HardDriveDownload, Import } from "lucide-react";
import { useState } from "react";
import { request } from "../../../api/http.ts";
import { LIVE_INTERVAL_MS } from "../../../api/queries.ts";
import { formatRelative } from "../../../base/format.ts";
import { confirmCancel } from "../../../entries/imports/confirm-cancel.ts";
import { StateBadge } from "../../../entries/imports/state-badge.tsx";
import { countProblems, filesText, isActive, isCancelable } from "../../../entries/imports/states.ts";
import { text as runText } from "../../../entries/imports/text.ts";
import { Button } from "../../../ui/button.tsx";
import type { Column } from "../../../ui/data-table.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { MoreMenu } from "../../../ui/more-menu.tsx";
import { toast } from "../../../ui/toast.tsx";
import { useAction, useAdminData } from "../api.ts";
import { PagedTable, usePage } from "../paged-table.tsx";
import { text as adminText } from "../text.ts";
import type { AccountImport } from "../types.ts";
import { StartDialog } from "./start-dialog.tsx";
import { text } from "./text.ts";

/** How often the progress is fetched while an import runs. */
const POLL_MS = 5_000;

/** The imports of all accounts, and a button to start one from a folder of the server. */
export function ImportsSection() {
  const [page, setPage] = usePage();
  const [isStarting, setStarting] = useState(false);
  const [isPolling, setPolling] = useState(false);
  const query = useAdminData("GET /api/admin/imports", {
    query: { page },
    refetchIntervalMs: isPolling ? POLL_MS : LIVE_INTERVAL_MS,
  });
  const isAnyActive = query.data?.imports.some(isActive) ?? false;
  if (isAnyActive !== isPolling) setPolling(isAnyActive);
  const cancel = useAction(
    ({ id }: AccountImport) => request("POST", `/api/admin/imports/${id}/cancel`),
    () => toast({ text: runText.canceled }),
  );
  const hasFolder = query.data?.hasFolder ?? false;
  const start = hasFolder && (
    <Button variant="primary" icon={HardDriveDownload} onClick={() => setStarting(true)}>
      {text.start}
    </Button>
  );
  return (
    <>
      <PagedTable
        query={query}
        rowsOf={({ imports }) => imports}
        empty={
          <EmptyState icon={Import} title={text.none} action={start}>
            {text.hint} {!hasFolder && text.folderHint}
          </EmptyState>
        }
        above={
          <div className="mb-3 flex flex-wrap items-start justify-between gap-3">
            <p className="max-w-2xl text-sm text-muted">
              {text.hint} {!hasFolder && text.folderHint}
            </p>
            {start}
          </div>
        }
        caption={text.title}
        columns={importColumns((run) => confirmCancel(() => cancel.mutate(run)))}
        onPage={setPage}
      />
      {isStarting && <StartDialog onClose={() => setStarting(false)} />}
    </>
  );
}

function importColumns(onCancel: (run: AccountImport) => void): Column<AccountImport>[] {
  return [
    { key: "source", title: text.source, isHeader: true, cell: (run) => <Source run={run} /> },
    { key: "account", title: text.account, cell: (run) => <Person run={run} /> },
    { key: "state", title: text.state, cell: (run) => <State run={run} /> },
    { key: "progress", title: text.progress, align: "end", cell: (run) => <Progress run={run} /> },
    {
      key: "started",
      title: text.startedAt,
      cell: ({ createdAt, origin }) => (
        <>
          {formatRelative(createdAt)}
          <span className="block text-xs text-muted">{text.by(origin)}</span>
        </>
      ),
    },
    {
      key: "actions",
      title: adminText.actions,
      isTitleHidden: true,
      align: "end",
      cell: (run) =>
        isCancelable(run) && (
          <MoreMenu
            label={adminText.actionsFor({ name: run.source })}
            items={[{ label: runText.cancel, icon: Ban, danger: true, run: () => onCancel(run) }]}
          />
        ),
    },
  ];
}

function Source({ run: { kind, source, folder } }: { readonly run: AccountImport }) {
  return (
    <>
      {runText.kind(kind)}
      <span className="block text-xs font-normal wrap-anywhere text-muted">
        {source} → {folder}
      </span>
    </>
  );
}

function Person({ run: { user } }: { readonly run: AccountImport }) {
  if (user.id === "") return <span className="text-muted">{text.deletedAccount}</span>;
  return (
    <>
      <bdi className="wrap-anywhere">{user.name === "" ? user.email : user.name}</bdi>
      {user.name !== "" && <span className="block text-xs wrap-anywhere text-muted">{user.email}</span>}
    </>
  );
}

function State({ run: { state, message } }: { readonly run: AccountImport }) {
  return (
    <>
      <StateBadge state={state} />
      {message !== null && (
        <span dir="auto" className="block max-w-64 text-xs wrap-anywhere text-muted">
          {message}
        </span>
      )}
    </>
  );
}

function Progress({ run }: { readonly run: AccountImport }) {
  const problems = countProblems(run);
  return (
    <>
      {filesText(run)}
      {problems > 0 && <span className="block text-xs text-muted">{runText.notImported({ n: problems })}</span>}
    </>
  );
}
