import { History as HistoryIcon } from "lucide-react";
import { useState } from "react";
import { formatDateTime } from "../../../base/format.ts";
import { countProblems, type ImportRun } from "../../../entries/imports/states.ts";
import { StateBadge } from "../../../entries/imports/state-badge.tsx";
import { text as runText } from "../../../entries/imports/text.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { type Row, Rows } from "../rows.tsx";
import { describeRun, RunDetails } from "./run-details.tsx";
import { text } from "./text.ts";

/** Earlier imports; each can show its result. */
export function History({ runs }: { readonly runs: readonly ImportRun[] }) {
  const [openId, setOpenId] = useState<string>();
  if (runs.length === 0) return null;
  return (
    <Card title={text.runs}>
      <Rows
        label={text.runs}
        rows={runs.map((run) => rowOf(run, run.id === openId, () => setOpenId(run.id === openId ? undefined : run.id)))}
      />
    </Card>
  );
}

function rowOf(run: ImportRun, isOpen: boolean, onToggle: () => void): Row {
  const { id, kind, state, source, createdAt, imported } = run;
  const problems = countProblems(run);
  return {
    key: id,
    icon: <HistoryIcon />,
    title: (
      <>
        {runText.kind(kind)} <StateBadge state={state} />
      </>
    ),
    lines: [
      describeRun(run),
      [runText.importedFiles({ n: imported }), ...(problems > 0 ? [runText.notImported({ n: problems })] : [])].join(
        " · ",
      ),
    ],
    actions: (
      <Button
        size="small"
        aria-expanded={isOpen}
        aria-label={text.detailsOf({ source, when: formatDateTime(createdAt) })}
        onClick={onToggle}
      >
        {text.details}
      </Button>
    ),
    ...(isOpen && { more: <RunDetails run={run} /> }),
  };
}
