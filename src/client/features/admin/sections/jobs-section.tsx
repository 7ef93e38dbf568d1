import { Play } from "lucide-react";
import { request } from "../../../api/http.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { formatRelative, locale } from "../../../base/format.ts";
import { toast } from "../../../ui/toast.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { text } from "../text.ts";
import { describeDuration, describeSchedule, text as jobsText } from "./jobs-text.ts";
import { describeResult } from "./job-results.ts";
import type { Job } from "../types.ts";
import { useAction, useAdminData } from "../api.ts";

const POLL_MS = 5000;

/** Scheduled jobs with their last result, and a button to run one now. */
export function JobsSection() {
  const query = useAdminData("GET /api/admin/jobs", { refetchIntervalMs: POLL_MS });
  const run = useAction(
    (name: string) => request<Job>("POST", `/api/admin/jobs/${encodeURIComponent(name)}/run`),
    ({ name, isRunning, lastError }) => {
      if (isRunning) toast({ text: text.jobStarted({ name: jobsText.names(name) }) });
      else if (lastError === null) toast({ text: text.jobDone({ name: jobsText.names(name) }), tone: "success" });
      else toast({ text: text.jobFailedNow({ name: jobsText.names(name), why: lastError }), tone: "danger" });
    },
  );
  const columns: Column<Job>[] = [
    {
      key: "job",
      title: text.job,
      isHeader: true,
      cell: ({ name, description }) => (
        <span title={name}>
          {jobsText.names(name)}
          <span className="block max-w-md text-xs font-normal text-muted">
            {jobsText.descriptions(name, description)}
          </span>
        </span>
      ),
    },
    {
      key: "schedule",
      title: text.jobSchedule,
      cell: ({ schedule, nextRunAt }) => (
        <>
          {describeSchedule(schedule)}
          {nextRunAt !== null && (
            <span className="block text-xs text-muted">{jobsText.next({ when: formatRelative(nextRunAt) })}</span>
          )}
        </>
      ),
    },
    { key: "last", title: text.jobLast, cell: describeLastRun },
    { key: "result", title: text.jobResult, cell: (job) => <Outcome job={job} /> },
    {
      key: "run",
      title: text.actions,
      isTitleHidden: true,
      align: "end",
      cell: ({ name, isRunning }) => (
        <Button
          size="small"
          icon={Play}
          aria-label={text.runNowOf({ name: jobsText.names(name) })}
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
      {({ jobs }) => (
        <DataTable caption={text.jobs} columns={columns} rows={sorted(jobs)} rowKey={({ name }) => name} />
      )}
    </Loaded>
  );
}

/** Failing jobs first, then by name as shown. */
function sorted(jobs: readonly Job[]): Job[] {
  const rank = ({ lastError }: Job) => (lastError === null ? 1 : 0);
  return jobs.toSorted(
    (a, b) => rank(a) - rank(b) || jobsText.names(a.name).localeCompare(jobsText.names(b.name), locale()),
  );
}

function describeLastRun({ lastStartedAt, lastFinishedAt }: Job): string {
  if (lastFinishedAt === null) return text.jobNever;
  const tookMs = lastStartedAt === null ? Number.NaN : Date.parse(lastFinishedAt) - Date.parse(lastStartedAt);
  const when = formatRelative(lastFinishedAt);
  return tookMs >= 0 ? jobsText.took({ when, seconds: describeDuration(tookMs) }) : when;
}

function Outcome({ job: { name, isRunning, lastError, lastResult } }: { readonly job: Job }) {
  if (isRunning) return <Badge tone="accent">{text.jobRunning}</Badge>;
  if (lastError !== null) {
    return (
      <>
        <Badge tone="danger">{text.jobFailed}</Badge> <span className="text-sm">{lastError}</span>
        <span className="block text-xs text-muted">{jobsText.failedHint}</span>
      </>
    );
  }
  return <span className="break-words">{lastResult === null ? "" : describeResult(name, lastResult)}</span>;
}
