import type { ReactNode } from "react";

/** Terms and their values below each other. Undefined values are left out. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ReactNode | undefined])[];
}) {
  return (
    <dl className="text-sm">
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <div
              key={name}
              className="flex flex-wrap justify-between gap-x-6 border-b border-line py-1.5 last:border-b-0"
            >
              <dt className="text-muted">{name}</dt>
              <dd className="ms-auto min-w-0 break-words text-end">{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
