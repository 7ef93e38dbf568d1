import { useQuery } from "@tanstack/react-query";
import { Page } from "../../ui/page.tsx";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { Tabs } from "../../ui/tabs.tsx";
import { ConflictsTab } from "./conflicts-tab.tsx";
import { HoldsTab } from "./holds-tab.tsx";
import { conflictsQuery, devicesQuery, holdsQuery } from "./api.ts";
import { RestoreTab } from "./restore-tab.tsx";
import { RewindTab } from "./rewind-tab.tsx";
import { text } from "./text.ts";

const TABS = ["restore", "rewind", "holds", "conflicts"] as const;
type Tab = (typeof TABS)[number];

/** The history page: restore a past state, undo a device's changes, resolve held changes and conflicts (`?tab=`). */
export function HistoryPage() {
  const search = useTextSearch();
  const setSearch = useSetTextSearch();
  const tab: Tab = TABS.find((known) => known === search["tab"]) ?? "restore";
  const hasDevices = hasAny(useQuery(devicesQuery));
  const hasHolds = hasAny(useQuery(holdsQuery));
  const hasConflicts = hasAny(useQuery(conflictsQuery));
  const tabs = [
    { value: "restore" as const, label: text.tabRestore, content: <RestoreTab />, isOffered: true },
    { value: "rewind" as const, label: text.tabRewind, content: <RewindTab />, isOffered: hasDevices },
    { value: "holds" as const, label: text.tabHolds, content: <HoldsTab />, isOffered: hasHolds },
    { value: "conflicts" as const, label: text.tabConflicts, content: <ConflictsTab />, isOffered: hasConflicts },
  ];
  return (
    <Page title={text.title}>
      <Tabs<Tab>
        label={text.tabs}
        value={tab}
        onChange={(chosen) => setSearch({ tab: chosen === "restore" ? undefined : chosen }, { push: true })}
        tabs={tabs.filter(({ value, isOffered }) => isOffered || value === tab)}
      />
    </Page>
  );
}

/** Whether a loaded list has an item. Tabs that only devices fill are hidden otherwise. */
function hasAny({ data = [] }: { readonly data: readonly unknown[] | undefined }): boolean {
  return data.length > 0;
}
