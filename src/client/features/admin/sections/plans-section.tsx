import { planName } from "../../../base/plan-names.ts";
import { Link } from "@tanstack/react-router";
import { Badge } from "../../../ui/badge.tsx";
import { Card } from "../../../ui/card.tsx";
import { formatBytes, formatNumber } from "../../../base/format.ts";
import { DescriptionList } from "../../../ui/description-list.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { text as settingsText } from "../settings/text.ts";
import { text } from "../text.ts";
import type { Plan } from "../types.ts";
import { useAdminData } from "../api.ts";

/** The plans with their current limits. They are changed in the configuration. */
export function PlansSection() {
  const query = useAdminData("GET /api/admin/plans");
  return (
    <Loaded query={query}>
      {({ plans }) => (
        <>
          <p className="mb-4 text-sm text-muted">
            {text.plansHint}{" "}
            <Link to="/admin/$section" params={{ section: "settings" }}>
              {text.changePlans}
            </Link>
          </p>
          <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
            {plans.map((plan) => (
              <PlanCard key={plan.name} plan={plan} />
            ))}
          </div>
        </>
      )}
    </Loaded>
  );
}

function PlanCard({ plan }: { readonly plan: Plan }) {
  const orNone = (value: number | null, format: (n: number) => string) =>
    value === null ? text.noLimit : format(value);
  return (
    <Card
      title={planName(plan.name)}
      {...(plan.isDefault && { actions: <Badge tone="accent">{text.isDefault}</Badge> })}
    >
      <DescriptionList
        isRuled
        items={[
          [text.quota, orNone(plan.quota, formatBytes)],
          [text.maxFileSize, formatBytes(plan.maxFileSize)],
          [text.maxNodes, orNone(plan.maxNodes, formatNumber)],
          [text.devices, orNone(plan.devices, formatNumber)],
        ]}
      />
      <h3 className="mt-4 mb-1 text-sm font-medium">{text.requestsHeading}</h3>
      <DescriptionList
        isRuled
        items={Object.entries(plan.limits).map(([category, { limit, windowSeconds }]) => [
          settingsText.categories(category),
          limit === null
            ? text.noLimit
            : text.limitOf({ limit: formatNumber(limit), time: formatWindow(windowSeconds) }),
        ])}
      />
    </Card>
  );
}

function formatWindow(seconds: number): string {
  return seconds % 3600 === 0 ? text.hours({ n: seconds / 3600 }) : text.minutes({ n: Math.round(seconds / 60) });
}
