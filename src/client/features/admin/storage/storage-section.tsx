import { useState } from "react";
import type { ResponseData } from "../../../api/generated.ts";
import { Card } from "../../../ui/card.tsx";
import { formatBytes, formatNumber } from "../../../base/format.ts";
import { Select } from "../../../ui/select.tsx";
import { DiskMeter, diskFree } from "../disk-meter.tsx";
import { DescriptionList } from "../../../ui/description-list.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { text } from "../text.ts";
import type { Stats } from "../types.ts";
import { StorageBars } from "./storage-bars.tsx";
import { GrowthPlots } from "./growth-plots.tsx";
import { useAdminData } from "../api.ts";

const PERIODS_DAYS = ["30", "90", "365", "731"] as const;

/** What the server stores, and how that has grown. */
export function StorageSection() {
  const [period, setPeriod] = useState<(typeof PERIODS_DAYS)[number]>("30");
  const stats = useAdminData("GET /api/admin/stats");
  const usage = useAdminData("GET /api/admin/stats/storage");
  const history = useAdminData("GET /api/admin/stats/history", { query: { days: period } });
  return (
    <div className="flex flex-col gap-4">
      <Loaded query={stats}>{(data) => <Totals stats={data} />}</Loaded>
      <Loaded query={usage}>{(data) => <StorageBars usage={data} />}</Loaded>
      <Loaded query={usage}>{({ texts }) => <Texts texts={texts} />}</Loaded>
      <div className="flex flex-wrap items-end justify-between gap-3 pt-2">
        <h2 className="text-lg font-semibold">{text.growth}</h2>
        <Select
          label={text.period}
          value={period}
          onChange={setPeriod}
          options={PERIODS_DAYS.map((value) => ({ value, label: periodName(Number(value)) }))}
          className="w-44"
        />
      </div>
      <Loaded query={history}>{({ days }) => <GrowthPlots days={days} periodDays={Number(period)} />}</Loaded>
    </div>
  );
}

function periodName(days: number): string {
  return days < 365 ? text.lastDays({ n: days }) : text.lastYears({ n: Math.round(days / 365) });
}

/** Progress and size of the index for searching in contents. */
function Texts({ texts }: { readonly texts: ResponseData["GET /api/admin/stats/storage"]["texts"] }) {
  return (
    <Card title={text.texts}>
      <DescriptionList
        isRuled
        items={[
          [text.textsIndexed, formatNumber(texts.indexed)],
          [text.textsWaiting, formatNumber(texts.waiting)],
          ...texts.unread.map(({ reason, count }) => [text.textsUnread({ reason }), formatNumber(count)] as const),
          [text.textsSize, formatBytes(texts.textBytes)],
          [text.textsWords, formatBytes(texts.indexBytes)],
          [text.textsFile, formatBytes(texts.fileBytes)],
        ]}
      />
    </Card>
  );
}

function Totals({ stats: { storage, users } }: { readonly stats: Stats }) {
  const disk = { freeBytes: storage.diskFreeBytes, totalBytes: storage.diskTotalBytes };
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title={text.storage}>
        <DescriptionList
          isRuled
          items={[
            [text.storageUsed, formatBytes(storage.usedBytes)],
            [text.storageVersions, formatBytes(storage.versionsBytes)],
            [text.storageTrash, formatBytes(storage.trashBytes)],
            [text.storageFiles, formatNumber(storage.files)],
            [text.storageFolders, formatNumber(storage.folders)],
            [text.usersTotal, formatNumber(users.total)],
          ]}
        />
      </Card>
      <Card title={text.storageDisk}>
        <DiskMeter {...disk} />
        <DescriptionList
          isRuled
          items={[
            [text.diskFree, diskFree(disk)],
            [text.storageStored, formatBytes(storage.blobBytes)],
          ]}
        />
      </Card>
    </div>
  );
}
