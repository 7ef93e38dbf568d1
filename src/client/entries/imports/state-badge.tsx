import { Badge } from "../../ui/badge.tsx";
import type { ImportState } from "./states.ts";
import { text } from "./text.ts";

const TONES = {
  waiting: "neutral",
  running: "accent",
  paused: "warning",
  interrupted: "warning",
  completed: "success",
  failed: "danger",
  canceled: "neutral",
} as const;

/** The state of an import. */
export function StateBadge({ state }: { readonly state: ImportState }) {
  return <Badge tone={TONES[state]}>{text.state(state)}</Badge>;
}
