import { Skeleton } from "../../ui/skeleton.tsx";
import { text } from "../text.ts";

/** A placeholder for a list until its length is known. */
export function ListSkeleton({ layout }: { readonly layout: "list" | "tiles" }) {
  return (
    <div aria-busy="true" role="status" className="p-3">
      <span className="sr-only">{text.loadingEntry}</span>
      {layout === "list" ? (
        <div className="flex flex-col gap-4 pt-8">
          {ROWS.map((row) => (
            <div key={row} className="flex items-center gap-3">
              <Skeleton className="size-8 shrink-0" />
              <Skeleton className="h-4 max-w-96" />
            </div>
          ))}
        </div>
      ) : (
        <div className="grid grid-cols-[repeat(auto-fill,minmax(10rem,1fr))] gap-3">
          {ROWS.map((row) => (
            <Skeleton key={row} className="h-44" />
          ))}
        </div>
      )}
    </div>
  );
}

const ROWS = Array.from({ length: 10 }, (_, row) => row);
