import { Spinner } from "../../ui/spinner.tsx";
import { text } from "./text.ts";

/** Shown while a preview is loading. */
export function Loading() {
  return (
    <div className="flex size-full items-center justify-center">
      <Spinner label={text.loading} />
    </div>
  );
}
