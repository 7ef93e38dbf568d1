import { Clock, Inbox } from "lucide-react";
import type { ReactNode } from "react";
import type { Entry } from "../../api/types.ts";
import { cx } from "../../ui/cx.ts";
import { Link2, UsersRound } from "../../ui/icons.ts";
import { describeShares, endsSoon, type SharedFields } from "../share-marks.ts";

/** Says how an entry is shared: by links, with people, as a drop box, and whether that ends soon. */
export function ShareMarks({ entry, className }: { readonly entry: Entry; readonly className: string }): ReactNode {
  const label = describeShares(entry);
  if (label === "") return null;
  return (
    <span role="img" aria-label={label} title={label} className="flex shrink-0 items-center gap-1 text-muted">
      <ShareIcons of={entry} className={className} />
    </span>
  );
}

/** The icons of {@link ShareMarks}, without a name. */
export function ShareIcons({ of, className }: { readonly of: SharedFields; readonly className: string }) {
  const { shared } = of;
  const icons = cx("shrink-0", className);
  return (
    <>
      {(shared === undefined ? of.isPublic === true : (shared?.links ?? 0) > 0) && (
        <Link2 aria-hidden className={icons} />
      )}
      {(shared?.people ?? 0) > 0 && <UsersRound aria-hidden className={icons} />}
      {(shared?.dropBoxes ?? 0) > 0 && <Inbox aria-hidden className={icons} />}
      {endsSoon(shared) && <Clock aria-hidden className={cx(icons, "text-warning")} />}
    </>
  );
}
