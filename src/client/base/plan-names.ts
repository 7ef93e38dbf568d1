import { defineText } from "./text.ts";

const text = defineText("plans", {
  names: { free: "Free", pro: "Pro", enterprise: "Complete" },
});

/** The name of a plan for people. The API calls the largest one `enterprise`, which means nothing to a household. */
export function planName(plan: string): string {
  return text.names(plan);
}
