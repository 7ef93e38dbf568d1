import { planName } from "../../../base/plan-names.ts";
import { Card } from "../../../ui/card.tsx";
import { DataTable } from "../../../ui/data-table.tsx";
import { DescriptionList } from "../../../ui/description-list.tsx";
import { formatBytes, formatNumber, formatRelative } from "../../../base/format.ts";
import { Progress } from "../../../ui/progress.tsx";
import type { Usage } from "../../../api/types.ts";
import { type RateLimits, useResource } from "../api.ts";
import { usageByKind } from "../file-kinds.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { formatMonth } from "../../../entries/justified/dates.ts";
import { text } from "../text.ts";

/** Usage of storage, transfers, devices and request limits. */
export function UsageSection() {
  const usage = useResource("usage");
  const limits = useResource("rateLimits");
  return (
    <>
      <Loaded query={usage}>
        {(data) => (
          <>
            <Storage usage={data} />
            <ByType usage={data} />
            <Card title={text.month({ month: formatMonth(data.transfers.period) })}>
              <DescriptionList
                items={[
                  [
                    text.uploaded,
                    text.countAndSize({
                      count: data.transfers.uploads,
                      size: formatBytes(data.transfers.uploadedBytes),
                    }),
                  ],
                  [
                    text.downloaded,
                    text.countAndSize({
                      count: data.transfers.downloads,
                      size: formatBytes(data.transfers.downloadedBytes),
                    }),
                  ],
                  [text.devices, describeCount(data.devices)],
                  [text.plan, planName(data.plan.name)],
                  [
                    text.largestFile,
                    data.plan.maxFileSize === null ? text.noLimit : formatBytes(data.plan.maxFileSize),
                  ],
                  [text.maxNodes, data.plan.maxNodes === null ? text.noLimit : formatNumber(data.plan.maxNodes)],
                ]}
              />
            </Card>
          </>
        )}
      </Loaded>
      <Card title={text.rateLimits} description={text.rateLimitsLead}>
        <Loaded query={limits}>{(data) => <Limits limits={data} />}</Loaded>
      </Card>
    </>
  );
}

function Storage({ usage: { storage } }: { usage: Usage }) {
  const { used, quota, percentage } = storage;
  return (
    <Card title={text.storage}>
      <p className="mb-2">
        {quota === null
          ? text.usedBytes({ used: formatBytes(used) })
          : text.usedOf({ used: formatBytes(used), quota: formatBytes(quota) })}
      </p>
      {quota !== null && (
        <Progress
          label={text.storage}
          value={percentage / 100}
          tone={percentage >= 95 ? "danger" : percentage >= 80 ? "warning" : "accent"}
          className="mb-4 h-2.5"
        />
      )}
      <DescriptionList
        items={[
          [text.files, formatNumber(storage.files)],
          [text.folders, formatNumber(storage.folders)],
          [text.versions, formatBytes(storage.versions)],
          [text.trash, formatBytes(storage.trash)],
          ...(storage.remaining === null ? [] : [[text.free, formatBytes(storage.remaining)] as const]),
        ]}
      />
    </Card>
  );
}

function ByType({ usage: { byType } }: { usage: Usage }) {
  const kinds = usageByKind(byType);
  const most = Math.max(1, kinds[0]?.bytes ?? 0);
  if (kinds.length === 0) return null;

  return (
    <Card title={text.byType}>
      <ul className="flex flex-col gap-3">
        {kinds.map(({ kind, files, bytes }) => (
          <li key={kind} className="flex flex-col gap-1 text-sm">
            <span className="flex justify-between gap-4">
              <span className="font-medium">{text.kindName(kind)}</span>
              <span className="text-muted">{text.countAndSize({ count: files, size: formatBytes(bytes) })}</span>
            </span>
            <span aria-hidden className="block h-1.5 overflow-hidden rounded-full bg-sunken">
              <span
                className="block h-full rounded-full bg-accent"
                style={{ width: `${Math.max(1, (bytes / most) * 100)}%` }}
              />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** How the API represents no limit. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

function Limits({ limits }: { limits: RateLimits }) {
  return (
    <DataTable
      caption={text.rateLimits}
      rows={limits.endpoints}
      rowKey={({ resource }) => resource}
      columns={[
        { key: "resource", title: text.kindOfRequest, isHeader: true, cell: (row) => text.resourceName(row.resource) },
        { key: "used", title: text.used, align: "end", cell: (row) => formatNumber(row.used) },
        {
          key: "limit",
          title: text.limit,
          align: "end",
          cell: (row) => (row.limit >= UNLIMITED ? text.noLimit : formatNumber(row.limit)),
        },
        {
          key: "resets",
          title: text.resets,
          align: "end",
          cell: (row) => (row.used === 0 ? "–" : formatRelative(row.resetsAt)),
        },
      ]}
    />
  );
}

function describeCount({ count, limit }: { readonly count: number; readonly limit: number | null }): string {
  return limit === null ? formatNumber(count) : text.ofLimit({ count, limit });
}
