/** /api/admin/settings: the settings that administrators change while the server runs. */
import type { Config } from "../../../config/settings.ts";
import { requestLanguage } from "../../../http/language.ts";
import { noteAudit } from "../../../http/audit-note.ts";
import { ok } from "../../../http/envelope.ts";
import { translateMessage } from "../../../translations/error-texts.ts";
import type { Outbound } from "../../../net/outbound.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { WITH_PROOF } from "../../accounts/auth/model.ts";
import type { ProofService } from "../../accounts/auth/proof.ts";
import type { MailServer } from "../../accounts/mail/mail-server.ts";
import { ADMIN_READ, ADMIN_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import { SettingsBody } from "./model.ts";
import * as docs from "./openapi.ts";
import { presentSetting } from "./present.ts";
import type { SettingsService } from "./service.ts";

/** Dependencies of these routes. */
export interface SettingsRoutesOptions {
  readonly settings: SettingsService;
  readonly mailServer: MailServer;
  readonly outbound: Pick<Outbound, "checkHost">;
  readonly config: Pick<Config, "mail">;
  readonly guard: ReturnType<typeof authGuard>;
  readonly proof: ProofService;
}

const ROUTE = { ...ADMIN_ROUTE, scope: "never" } as const;
/** Checked for a host without a port of its own: the usual port of mail submission. */
const SUBMISSION_PORT = 587;

/** Administrators read and change settings; API keys only read them. */
export function settingsRoutes({ settings, mailServer, outbound, config, guard, proof }: SettingsRoutesOptions) {
  const present = (language: string) => ({
    settings: settings.list().map((setting) => presentSetting(setting, language)),
    mail: {
      isReady: mailServer.current !== undefined,
      hasPassword: config.mail.password !== null || config.mail.passwordFile !== null,
      problem: mailServer.problem === undefined ? null : translateMessage(mailServer.problem, language),
    },
  });
  return new Router({ prefix: "/api/admin/settings", guard })
    .get("/", { ...ADMIN_READ, docs: docs.listSettings }, ({ request }) => ok(present(requestLanguage(request))))
    .patch(
      "/",
      {
        ...ROUTE,
        audit: { action: "settings.change" },
        docs: docs.changeSettings,
        body: SettingsBody,
      },
      async ({ request, set, principal, body }) => {
        const { values } = body;
        const checkProof = await proof.require("admin", { request, set, principal, body });
        await checkMailHost(values, outbound);
        const changes = await settings.change(values, principal.user.publicId, checkProof);
        const details = Object.fromEntries(changes.map(({ key, from, to }) => [key, `${from} → ${to}`]));
        noteAudit(request, { details, isNotDone: changes.length === 0 });
        return ok(present(requestLanguage(request)));
      },
    )
    .post(
      "/mail/test",
      { ...ROUTE, ...WITH_PROOF, audit: { action: "settings.test_mail" }, docs: docs.testMail },
      async ({ request, set, principal, body }) => {
        await proof.require("admin", { request, set, principal, body });
        const { email } = principal.user;
        const result = await mailServer.sendTest(email, requestLanguage(request));
        noteAudit(request, { details: { result } });
        return ok({ to: email, result });
      },
    );
}

/** Rejects a mail server that this server may not connect to. Each connection checks again. */
async function checkMailHost(
  values: Readonly<Record<string, string | number | boolean | null>>,
  outbound: Pick<Outbound, "checkHost">,
): Promise<void> {
  const host = values["mail.host"];
  const port = Number(values["mail.port"] ?? 0);
  if (typeof host !== "string" || host.trim() === "") return;
  await outbound.checkHost(host.trim(), Number.isInteger(port) && port > 0 ? port : SUBMISSION_PORT, "mail.host");
}
