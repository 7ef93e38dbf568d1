import { Page } from "../../ui/page.tsx";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { Tabs } from "../../ui/tabs.tsx";
import { ConflictsTab } from "./conflicts-tab.tsx";
import { HoldsTab } from "./holds-tab.tsx";
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
  return (
    <Page title={text.title}>
      <Tabs<Tab>
        label={text.tabs}
        value={tab}
        onChange={(chosen) => setSearch({ tab: chosen === "restore" ? undefined : chosen }, { push: true })}
        tabs={[
          { value: "restore", label: text.tabRestore, content: <RestoreTab /> },
          { value: "rewind", label: text.tabRewind, content: <RewindTab /> },
          { value: "holds", label: text.tabHolds, content: <HoldsTab /> },
          { value: "conflicts", label: text.tabConflicts, content: <ConflictsTab /> },
        ]}
      />
    </Page>
  );
}
