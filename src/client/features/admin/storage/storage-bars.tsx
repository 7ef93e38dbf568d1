import type { ResponseData } from "../../../api/generated.ts";
import { formatBytes } from "../../../base/format.ts";
import { Card } from "../../../ui/card.tsx";
import { cx } from "../../../ui/cx.ts";
import { text } from "../text.ts";

type Usage = ResponseData["GET /api/admin/stats/storage"];

/** A bar of parts, with its name and its numbers as text. */
interface Bar {
  readonly key: string;
  readonly name: string;
  readonly value: string;
  readonly detail?: string;
  readonly parts: readonly number[];
}

const COLORS = ["bg-accent", "bg-warning", "bg-line-strong"] as const;

/** Who uses the storage, and for what kinds of files. */
export function StorageBars({ usage: { people, others, kinds } }: { readonly usage: Usage }) {
  const bars = people.map((person): Bar => {
    const parts = [person.filesBytes, person.versionsBytes, person.trashBytes];
    const [files = 0, versions = 0, trash = 0] = parts;
    return {
      key: person.id,
      name: person.name || person.email,
      value: formatBytes(files + versions + trash),
      // Without versions and trash, the parts would repeat the total.
      ...(versions + trash > 0 && {
        detail: text.personParts({
          files: formatBytes(files),
          versions: formatBytes(versions),
          trash: formatBytes(trash),
        }),
      }),
      parts,
    };
  });
  const rest: Bar[] =
    others.accounts === 0
      ? []
      : [
          {
            key: "others",
            name: text.others({ n: others.accounts }),
            value: formatBytes(others.bytes),
            parts: [others.bytes],
          },
        ];
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Card title={text.byPerson} description={text.byPersonHint}>
        <Bars label={text.byPerson} bars={[...bars, ...rest]} />
        <ul aria-hidden className="mt-3 flex flex-wrap gap-4 text-xs text-muted">
          {[text.storageFiles, text.storageVersions, text.storageTrash].map((name, index) => (
            <li key={name} className="flex items-center gap-1.5">
              <span className={cx("size-2.5 rounded-full", COLORS[index])} />
              {name}
            </li>
          ))}
        </ul>
      </Card>
      <Card title={text.byKind} description={text.byKindHint}>
        <Bars
          label={text.byKind}
          bars={kinds
            .filter(({ files }) => files > 0)
            .map(({ kind, files, bytes }) => ({
              key: kind,
              name: text.kinds(kind),
              value: text.kindValue({ size: formatBytes(bytes), files }),
              parts: [bytes],
            }))}
        />
      </Card>
    </div>
  );
}

function Bars({ label, bars }: { readonly label: string; readonly bars: readonly Bar[] }) {
  const total = ({ parts }: Bar) => parts.reduce((sum, part) => sum + part, 0);
  const largest = Math.max(1, ...bars.map(total));
  if (bars.length === 0) return <p className="text-sm text-muted">{text.nothingStoredYet}</p>;
  return (
    <ul aria-label={label} className="flex flex-col gap-3 text-sm">
      {bars.map(({ key, name, value, detail, parts }) => (
        <li key={key}>
          <div className="flex flex-wrap justify-between gap-x-4">
            <span className="min-w-0 font-medium wrap-anywhere">{name}</span>
            <span>{value}</span>
          </div>
          <div aria-hidden className="my-1 flex h-2 overflow-hidden rounded-full bg-sunken">
            {parts.map((part, index) => (
              <span
                // oxlint-disable-next-line react/no-array-index-key -- the parts have a fixed order
                key={index}
                className={COLORS[index]}
                style={{ width: `${(part / largest) * 100}%` }}
              />
            ))}
          </div>
          {detail !== undefined && <p className="text-xs text-muted">{detail}</p>}
        </li>
      ))}
    </ul>
  );
}
