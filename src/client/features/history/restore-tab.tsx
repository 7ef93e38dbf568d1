import { useState } from "react";
import { useSetTextSearch, useTextSearch } from "../../base/search-params.ts";
import { hoursAgo, readMoment } from "./moment.ts";
import { MomentChooser } from "./moment-chooser.tsx";
import { PastFolder } from "./past-folder.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";
import { text } from "./text.ts";
import { useCanWrite } from "../../api/session.ts";

/** The files as they were at a moment (`?at=`), folder by folder (`folder=`), with a button to restore them. */
export function RestoreTab() {
  const search = useTextSearch();
  const setSearch = useSetTextSearch();
  const isReader = !useCanWrite();
  // If the address has no moment, the same default is used as long as the page is open.
  const [fallback] = useState(() => hoursAgo(24));
  const [restoring, setRestoring] = useState<string>();
  const at = readMoment(search["at"]) ?? fallback;
  const folder = search["folder"] ?? "/";
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-muted">{text.restoreIntro}</p>
      <MomentChooser at={at} onChange={(moment) => setSearch({ at: moment })} />
      <PastFolder
        at={at}
        folder={folder}
        onFolder={(path) => setSearch({ at, folder: path === "/" ? undefined : path }, { push: true })}
        {...(!isReader && { onRestore: setRestoring })}
      />
      {restoring !== undefined && <RestoreDialog folder={restoring} at={at} onClose={() => setRestoring(undefined)} />}
    </div>
  );
}
