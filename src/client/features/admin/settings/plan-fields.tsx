import { Disclosure } from "../../../ui/disclosure.tsx";
import { planName } from "../../../base/plan-names.ts";
import { Card } from "../../../ui/card.tsx";
import { PLANS, type PlanName } from "../types.ts";
import { useAdminData } from "../api.ts";
import { type EditableSetting, nameOf, numberOf } from "./draft.ts";
import { SettingField } from "./setting-field.tsx";
import { FormField, type SettingsForm } from "./form-field.tsx";
import { text } from "./text.ts";

const PEOPLE_NAMED = 3;

/** The limits of each plan. */
export function PlanFields({ form }: { readonly form: SettingsForm }) {
  return (
    <Card title={text.groups("plans")} description={text.groupHints("plans")}>
      <div className="grid gap-x-6 gap-y-5 md:grid-cols-3">
        {PLANS.map((plan) => (
          <fieldset key={plan} className="flex min-w-0 flex-col gap-3">
            <legend className="mb-2 font-medium">{planName(plan)}</legend>
            {settingsOf(form, "plans", plan).map((setting) =>
              nameOf(setting.key) === "quota" ? (
                <QuotaSetting key={setting.key} form={form} setting={setting} plan={plan} />
              ) : (
                <FormField key={setting.key} form={form} setting={setting} />
              ),
            )}
          </fieldset>
        ))}
      </div>
    </Card>
  );
}

/** The quota of a plan. A lower one shows which accounts are above it. */
function QuotaSetting({
  form,
  setting,
  plan,
}: {
  readonly form: SettingsForm;
  readonly setting: EditableSetting;
  readonly plan: PlanName;
}) {
  const draft = form.draftOf(setting);
  const quota = draft.isNone ? undefined : numberOf(setting, draft);
  const isLower = quota !== undefined && (typeof setting.value !== "number" || quota < setting.value);
  return (
    <>
      <SettingField
        setting={setting}
        draft={draft}
        onChange={(next) => form.set(setting, next)}
        rejection={form.rejectionOf(setting)}
      />
      {isLower && <AccountsAbove plan={plan} quota={quota} />}
    </>
  );
}

function AccountsAbove({ plan, quota }: { readonly plan: PlanName; readonly quota: number }) {
  const query = useAdminData("GET /api/admin/users", { query: { plan, sort: "used", order: "desc", limit: 100 } });
  const above = query.data?.users.filter((user) => !user.quotaOverride && user.storage.used > quota) ?? [];
  if (above.length === 0) return null;
  const names = above.slice(0, PEOPLE_NAMED).map(({ name, email }) => name || email);
  return (
    <p role="status" className="text-sm text-warning">
      {text.accountsAbove({
        n: above.length,
        names: [...names, ...(above.length > PEOPLE_NAMED ? ["…"] : [])].join(", "),
      })}
    </p>
  );
}

/** Whether and how much requests are limited. */
export function RateFields({ form }: { readonly form: SettingsForm }) {
  const single = form.settings.filter(({ key, group }) => group === "rates" && !key.startsWith("plans."));
  return (
    <Card title={text.groups("rates")} description={text.groupHints("rates")}>
      <div className="grid gap-x-6 gap-y-4 md:grid-cols-2">
        {single.map((setting) => (
          <FormField key={setting.key} form={form} setting={setting} />
        ))}
      </div>
      <Disclosure title={text.showRates} className="mt-4 text-sm font-medium">
        <p className="my-2 font-normal text-muted">{text.perHour}</p>
        <div className="grid gap-x-6 gap-y-5 md:grid-cols-3">
          {PLANS.map((plan) => (
            <fieldset key={plan} className="flex min-w-0 flex-col gap-3">
              <legend className="mb-2 font-medium">{planName(plan)}</legend>
              {settingsOf(form, "rates", plan).map((setting) => (
                <FormField key={setting.key} form={form} setting={setting} />
              ))}
            </fieldset>
          ))}
        </div>
      </Disclosure>
    </Card>
  );
}

function settingsOf(form: SettingsForm, group: string, plan: PlanName): readonly EditableSetting[] {
  return form.settings.filter((setting) => setting.group === group && setting.key.startsWith(`plans.${plan}.`));
}
