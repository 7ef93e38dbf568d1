import { Play } from "lucide-react";
import { request } from "../../../api/http.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { formatRelative } from "../../../base/format.ts";
import { toast } from "../../../ui/toast.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { text } from "../text.ts";
import type { Job } from "../types.ts";
import { useAction, useAdminData } from "../api.ts";

const POLL_MS = 5000;

/** Scheduled jobs with their last result, and a button to run one now. */
export function JobsSection() {
  const query = useAdminData("GET /api/admin/jobs", { refetchIntervalMs: POLL_MS });
  const run = useAction(
    (name: string) => request<Job>("POST", `/api/admin/jobs/${encodeURIComponent(name)}/run`),
    ({ name, isRunning, lastError }) => {
      if (isRunning) toast({ text: text.jobStarted(name) });
      else if (lastError === null) toast({ text: text.jobDone(name), tone: "success" });
      else toast({ text: text.jobFailedNow(name, lastError), tone: "danger" });
    },
  );
  const columns: Column<Job>[] = [
    {
      key: "job",
      title: text.job,
      isHeader: true,
      cell: ({ name, description }) => (
        <>
          {name}
          <span className="block max-w-md text-xs font-normal text-muted">{description}</span>
        </>
      ),
    },
    {
      key: "schedule",
      title: text.jobSchedule,
      cell: ({ schedule }) => <code className="text-xs whitespace-nowrap">{schedule}</code>,
    },
    {
      key: "last",
      title: text.jobLast,
      cell: ({ lastFinishedAt }) => (lastFinishedAt === null ? text.jobNever : formatRelative(lastFinishedAt)),
    },
    { key: "result", title: text.jobResult, cell: (job) => <Outcome job={job} /> },
    {
      key: "next",
      title: text.jobNext,
      cell: ({ nextRunAt }) => (nextRunAt === null ? "" : formatRelative(nextRunAt)),
    },
    {
      key: "run",
      title: text.actions,
      isTitleHidden: true,
      align: "end",
      cell: ({ name, isRunning }) => (
        <Button
          size="small"
          icon={Play}
          aria-label={text.runNowOf(name)}
          busy={isRunning || (run.isPending && run.variables === name)}
          onClick={() => run.mutate(name)}
        >
          {text.runNow}
        </Button>
      ),
    },
  ];
  return (
    <Loaded query={query}>
      {({ jobs }) => <DataTable caption={text.jobs} columns={columns} rows={jobs} rowKey={({ name }) => name} />}
    </Loaded>
  );
}

function Outcome({ job: { isRunning, lastError, lastResult } }: { readonly job: Job }) {
  if (isRunning) return <Badge tone="accent">{text.jobRunning}</Badge>;
  if (lastError !== null) {
    return (
      <>
        <Badge tone="danger">{text.jobFailed}</Badge> <span className="text-xs">{lastError}</span>
      </>
    );
  }
  return <span className="text-xs break-words text-muted">{lastResult ?? ""}</span>;
}
