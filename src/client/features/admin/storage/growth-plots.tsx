import { Disclosure } from "../../../ui/disclosure.tsx";
import { ChartLine } from "lucide-react";
import { useMemo } from "react";
import { Card } from "../../../ui/card.tsx";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { formatBytes, formatDate, formatNumber } from "../../../base/format.ts";
import { text } from "../text.ts";
import type { Day } from "../types.ts";
import { Plot, type Series } from "./plot.tsx";

/** A line needs two points. */
const DAYS_MIN = 2;

interface PlotDescription {
  readonly title: string;
  readonly format: (value: number) => string;
  readonly series: readonly Series[];
}

/** Storage, files, transfers and users per day, as plots and as one table. */
export function GrowthPlots({ days, periodDays }: { readonly days: readonly Day[]; readonly periodDays: number }) {
  const times = useMemo(() => days.map(({ date }) => Date.parse(date)), [days]);
  const plots = useMemo(() => describePlots(days), [days]);
  const hasPlots = days.length >= DAYS_MIN;
  return (
    <>
      {!hasPlots && (
        <EmptyState icon={ChartLine} title={text.plotEmpty}>
          {text.plotEmptyHint}
        </EmptyState>
      )}
      <div className="grid gap-4 lg:grid-cols-2">
        {(hasPlots ? plots : []).map(({ title, format, series }) => (
          <Card key={title} title={title}>
            <Plot
              days={times}
              series={series}
              format={format}
              isBytes={format === formatBytes}
              periodDays={periodDays}
              summary={summaryOf(series, format)}
            />
          </Card>
        ))}
      </div>
      <Disclosure title={text.asTable} className="rounded-2xl border border-line bg-raised p-4 font-medium">
        <DataTable caption={text.growth} columns={columns()} rows={days.toReversed()} rowKey={({ date }) => date} />
      </Disclosure>
    </>
  );
}

function describePlots(days: readonly Day[]): PlotDescription[] {
  return [
    {
      title: text.plotStorage,
      format: formatBytes,
      series: [
        { label: text.used, color: "accent", values: days.map((day) => day.usedBytes) },
        { label: text.stored, color: "warning", values: days.map((day) => day.storedBytes) },
      ],
    },
    {
      title: text.plotTransfers,
      format: formatBytes,
      series: [
        { label: text.uploaded, color: "accent", values: days.map((day) => day.uploadedBytes) },
        { label: text.downloaded, color: "focus", values: days.map((day) => day.downloadedBytes) },
      ],
    },
    {
      title: text.plotFiles,
      format: formatNumber,
      series: [
        { label: text.storageFiles, color: "accent", values: days.map((day) => day.files) },
        { label: text.storageFolders, color: "muted", values: days.map((day) => day.folders) },
      ],
    },
    {
      title: text.plotUsers,
      format: formatNumber,
      series: [
        { label: text.all, color: "accent", values: days.map((day) => day.users) },
        { label: text.active, color: "focus", values: days.map((day) => day.activeUsers) },
      ],
    },
  ];
}

/** Describes a plot as text, for people who can't see it. */
function summaryOf(series: readonly Series[], format: (value: number) => string): string {
  return series
    .map(({ label, values }) => {
      const known = values.filter((value) => value !== null);
      return text.plotSummary({ name: label, from: format(known[0] ?? 0), to: format(known.at(-1) ?? 0) });
    })
    .join("; ");
}

function columns(): Column<Day>[] {
  const bytes = (value: number | null) => (value === null ? "" : formatBytes(value));
  return [
    { key: "date", title: text.date, isHeader: true, cell: ({ date }) => formatDate(date) },
    { key: "used", title: text.used, align: "end", cell: ({ usedBytes }) => bytes(usedBytes) },
    { key: "stored", title: text.stored, align: "end", cell: ({ storedBytes }) => bytes(storedBytes) },
    { key: "free", title: text.diskFreeShort, align: "end", cell: ({ diskFreeBytes }) => bytes(diskFreeBytes) },
    { key: "files", title: text.storageFiles, align: "end", cell: ({ files }) => formatNumber(files) },
    { key: "uploaded", title: text.uploaded, align: "end", cell: ({ uploadedBytes }) => bytes(uploadedBytes) },
    { key: "downloaded", title: text.downloaded, align: "end", cell: ({ downloadedBytes }) => bytes(downloadedBytes) },
    { key: "users", title: text.usersTotal, align: "end", cell: ({ users }) => formatNumber(users) },
  ];
}
