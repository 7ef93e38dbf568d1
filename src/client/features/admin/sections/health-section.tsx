import { CircleAlert, CircleCheck, CircleX } from "lucide-react";
import { RotateCw } from "../../../ui/icons.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { cx } from "../../../ui/cx.ts";
import { formatBytes, formatDateTime, formatNumber, formatRelative } from "../../../base/format.ts";
import { DiskMeter, diskFree } from "../disk-meter.tsx";
import { DescriptionList } from "../../../ui/description-list.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { text } from "../text.ts";
import { text as jobsText } from "./jobs-text.ts";
import type { Health } from "../types.ts";
import { useAdminData } from "../api.ts";

const POLL_MS = 30_000;

const STATES = {
  ok: { icon: CircleCheck, title: () => text.healthOk, className: "bg-success-soft text-success" },
  warning: { icon: CircleAlert, title: () => text.healthWarning, className: "bg-warning-soft text-warning" },
  error: { icon: CircleX, title: () => text.healthError, className: "bg-danger-soft text-danger" },
} as const;

/** The state of the server, and what needs attention. */
export function HealthSection() {
  const query = useAdminData("GET /api/admin/health", { refetchIntervalMs: POLL_MS });
  return (
    <Loaded query={query}>{(health) => <HealthReport health={health} onRefresh={() => void query.refetch()} />}</Loaded>
  );
}

function HealthReport({ health, onRefresh }: { readonly health: Health; readonly onRefresh: () => void }) {
  const { icon: Icon, title, className } = STATES[health.status];
  return (
    <div className="flex flex-col gap-4">
      <section
        aria-label={text.health}
        className={cx("flex flex-wrap items-center gap-4 rounded-2xl p-4 sm:p-5", className)}
      >
        <Icon aria-hidden size={32} className="shrink-0" />
        <div className="min-w-0 flex-1 basis-48">
          <p className="text-lg font-semibold">{title()}</p>
          <p className="text-sm">
            {health.isReady ? text.healthReady : text.notReady({ why: health.notReadyReason ?? "" })}
          </p>
        </div>
        <Button icon={RotateCw} onClick={onRefresh}>
          {text.refresh}
        </Button>
      </section>
      {health.problems.length > 0 && (
        <Card title={text.problems}>
          <ul className="flex flex-col gap-2 text-sm">
            {health.problems.map(({ severity, about, message }) => (
              <li key={`${about} ${message}`} className="flex items-start gap-3">
                <Badge tone={severity === "error" ? "danger" : "warning"}>{text.severities({ severity })}</Badge>
                <span className="min-w-0 break-words">{message}</span>
              </li>
            ))}
          </ul>
        </Card>
      )}
      <div className="grid gap-4 lg:grid-cols-2">
        <ServerCard health={health} />
        <DataCard health={health} />
      </div>
    </div>
  );
}

function ServerCard({ health }: { readonly health: Health }) {
  const { versions, queues } = health;
  const waiting = Object.entries(queues).filter(([, count]) => count > 0);
  return (
    <Card title={text.theServer}>
      <DescriptionList
        isRuled
        items={[
          [text.runningSince, `${formatDateTime(health.startedAt)} (${formatRelative(health.startedAt)})`],
          [text.memory, formatBytes(health.memoryBytes)],
          [
            text.versions,
            `Larder ${versions.larder} (${versions.commit}), Bun ${versions.bun}, SQLite ${versions.sqlite}`,
          ],
          [text.certificate, health.certificateEndsAt === null ? undefined : formatDateTime(health.certificateEndsAt)],
          [
            text.queues,
            waiting.length === 0
              ? text.queuesEmpty
              : waiting.map(([name, count]) => `${text.queueNames(name)}: ${formatNumber(count)}`).join(", "),
          ],
          [
            text.failedJobs,
            health.failedJobs.length === 0
              ? text.noFailedJobs
              : health.failedJobs.map(({ name }) => jobsText.names(name)).join(", "),
          ],
        ]}
      />
    </Card>
  );
}

function DataCard({ health: { disk, database, snapshots, openFindings, bucket } }: { readonly health: Health }) {
  return (
    <Card title={text.storage}>
      <DiskMeter {...disk} />
      <DescriptionList
        isRuled
        items={[
          [text.diskFree, diskFree(disk)],
          [
            text.database,
            database.fault ??
              text.databaseSize({ size: formatBytes(database.bytes), log: formatBytes(database.logBytes) }),
          ],
          [
            text.snapshots,
            text.snapshotsValue({
              n: snapshots.count,
              last: snapshots.lastAt === null ? text.never : formatRelative(snapshots.lastAt),
            }),
          ],
          [text.openFindings, formatNumber(openFindings)],
          ...listBucketDetails(bucket),
        ]}
      />
    </Card>
  );
}

function listBucketDetails(bucket: Health["bucket"]): [string, string][] {
  if (bucket === null) return [];
  const { isUp, since, waiting } = bucket;
  return [
    [text.bucket, isUp ? text.bucketUp : text.bucketDown({ since: since === null ? "" : formatDateTime(since) })],
    [text.bucketWaiting, waiting === 0 ? text.bucketWaitingNone : text.bucketWaitingValue({ n: waiting })],
  ];
}
