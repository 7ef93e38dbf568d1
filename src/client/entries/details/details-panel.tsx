import { X } from "../../ui/icons.ts";
import { useState } from "react";
import type { Entry } from "../../api/types.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { FileIcon } from "../../ui/file-icon.tsx";
import { IconButton } from "../../ui/icon-button.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useIsWide } from "../details-state.ts";
import { useRightsOf } from "../rights.ts";
import { Versions } from "../versions/versions.tsx";
import { ActivityTab } from "./activity-tab.tsx";
import { InfoTab } from "./info-tab.tsx";
import { SharesTab } from "./shares-tab.tsx";
import { text } from "./text.ts";

type Tab = "info" | "versions" | "shares" | "activity";

/**
 * The details of a file or folder, some of them editable: a panel next to the list, a sheet on phones.
 * @param isFramed false if the surrounding element has a frame already
 */
export function DetailsPanel({
  entry,
  onClose,
  isFramed = true,
}: {
  readonly entry: Entry;
  readonly onClose: () => void;
  readonly isFramed?: boolean;
}) {
  // Held here, because switching between panel and sheet mounts the content again.
  const [tab, setTab] = useState<Tab>("info");
  const isWide = useIsWide();
  if (isFramed && !isWide) {
    return (
      <Dialog open onClose={onClose} title={entry.name}>
        <Parts entry={entry} tab={tab} onTab={setTab} />
      </Dialog>
    );
  }
  return (
    <section
      aria-label={text.panel({ name: entry.name })}
      className={isFramed ? "h-full w-96 shrink-0 overflow-y-auto border-s border-line bg-raised p-4" : "p-4"}
    >
      <div className="mb-2 flex items-start gap-2">
        <FileIcon mimeType={entry.type === "folder" ? "folder" : entry.mimeType} className="mt-1.5" />
        <h2 className="min-w-0 flex-1 pt-1 font-semibold break-words">{entry.name}</h2>
        <IconButton label={text.close} icon={X} onClick={onClose} />
      </div>
      <Parts entry={entry} tab={tab} onTab={setTab} />
    </section>
  );
}

function Parts({
  entry,
  tab,
  onTab,
}: {
  readonly entry: Entry;
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
}) {
  const { isOwn, showsVersions } = useRightsOf()(entry);
  const hasVersions = entry.type === "file" && showsVersions;
  const isHidden = (tab === "versions" && !hasVersions) || (tab === "shares" && !isOwn);
  const shown: Tab = isHidden ? "info" : tab;
  return (
    <Tabs<Tab>
      label={text.tabs}
      value={shown}
      onChange={onTab}
      tabs={[
        { value: "info", label: text.info, content: <InfoTab key={entry.id} entry={entry} /> },
        ...(hasVersions
          ? [{ value: "versions" as const, label: text.versions, content: <Versions key={entry.id} file={entry} /> }]
          : []),
        ...(isOwn
          ? [{ value: "shares" as const, label: text.shares, content: <SharesTab key={entry.id} entry={entry} /> }]
          : []),
        { value: "activity", label: text.activity, content: <ActivityTab key={entry.id} entry={entry} /> },
      ]}
    />
  );
}
