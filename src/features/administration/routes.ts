import type { Config } from "../../config/settings.ts";
import type { Writer } from "../../db/transaction.ts";
import { VERSION } from "../../version.ts";
import type { PasswordLinks } from "../accounts/welcome/password-links.ts";
import type { Router } from "../accounts/routing/router.ts";
import type { TwoFactorService } from "../accounts/two-factor/service.ts";
import { presentIntegrity } from "../storage/integrity/present.ts";
import type { Integrity } from "../storage/integrity/service.ts";
import { type AdminRoutesOptions, adminRoutes } from "./admin-api/routes.ts";
import { type AuditRoutesOptions, auditRoutes } from "./audit/routes.ts";
import { type SettingsRoutesOptions, settingsRoutes } from "./settings/routes.ts";

/** Dependencies of the routes of administrators. */
interface AdministrationRoutesOptions
  extends AuditRoutesOptions,
    Omit<SettingsRoutesOptions, "config">,
    Omit<AdminRoutesOptions, "defaultPlan" | "integrity" | "twoFactor" | "version" | "samples"> {
  readonly config: Pick<Config, "defaultPlan" | "scrub" | "mail">;
  readonly writer: Writer;
  readonly twoFactor: TwoFactorService;
  readonly passwordLinks: PasswordLinks;
  readonly integrity: Integrity;
  readonly dailySamples: AdminRoutesOptions["samples"];
}

/** Accounts, the state of the server, and the audit log; for administrators. */
export function administrationRoutes(options: AdministrationRoutesOptions): Router[] {
  const { config, clock, writer, twoFactor, integrity, dailySamples } = options;
  return [
    ...adminRoutes({
      ...options,
      defaultPlan: () => config.defaultPlan,
      version: VERSION,
      samples: dailySamples,
      integrity: () => presentIntegrity(integrity.figures(), config.scrub.withinMs, clock.nowMs()),
      twoFactor: {
        isEnabled: (userId) => twoFactor.methodsOf(userId).length > 0,
        disable: async (user, check) => {
          await writer.run((tx) => {
            check(tx);
            twoFactor.disable(tx, user);
          });
        },
      },
    }),
    auditRoutes(options),
    settingsRoutes(options),
  ];
}
