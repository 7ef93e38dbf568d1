import type { ReactNode } from "react";
import { cx } from "./cx.ts";

/** A short message in a box. Errors are announced at once. */
export function Notice({ tone = "info", children }: { tone?: "info" | "danger" | "success"; children: ReactNode }) {
  return (
    <div
      role={tone === "danger" ? "alert" : "status"}
      className={cx(
        "rounded-lg border px-3 py-2.5 text-sm",
        tone === "danger" && "border-danger bg-danger-soft text-danger",
        tone === "success" && "border-success bg-success-soft text-ink",
        tone === "info" && "border-line bg-sunken text-ink",
      )}
    >
      {children}
    </div>
  );
}
