import type { ReactNode } from "react";

/** An item of a list with its actions. */
export interface Row {
  readonly key: string;
  readonly icon: ReactNode;
  readonly title: ReactNode;
  /** Lines below the title. */
  readonly lines: readonly ReactNode[];
  readonly actions?: ReactNode;
  /** Content below the item, at full width. */
  readonly more?: ReactNode;
}

/** A list of the account's sessions, devices or keys. */
export function Rows({ rows, label }: { rows: readonly Row[]; label: string }) {
  return (
    <ul aria-label={label} className="divide-y divide-line">
      {rows.map(({ key, icon, title, lines, actions, more }) => (
        <li key={key} className="flex flex-col gap-2 py-3 first:pt-0 last:pb-0">
          <div className="flex flex-wrap items-start gap-3">
            <span aria-hidden className="mt-0.5 text-muted [&_svg]:size-5">
              {icon}
            </span>
            <div className="min-w-0 flex-1 basis-52">
              <p className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere">{title}</p>
              {lines.map((line, index) => (
                // oxlint-disable-next-line react/no-array-index-key -- lines of one text: none has a name, and none moves
                <p key={index} className="text-sm wrap-anywhere text-muted">
                  {line}
                </p>
              ))}
            </div>
            {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
          </div>
          {more}
        </li>
      ))}
    </ul>
  );
}
