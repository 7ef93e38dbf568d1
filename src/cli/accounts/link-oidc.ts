import { auditEntry } from "../shared/audit-entry.ts";
import { DATA_SETTINGS, defineCommand, UsageError } from "../shared/command.ts";
import { requireUser, withServices } from "../shared/services.ts";

/** `larder user link-oidc EMAIL SUBJECT`: links an account to a user of the OpenID Connect provider. */
export const linkOidc = defineCommand({
  description:
    "Link an account to a user of the OpenID Connect provider (oidc.issuer). The subject is the claim sub of that user.",
  settings: [...DATA_SETTINGS, "oidc.issuer", "oidc.clientId"],
  examples: "larder user link-oidc anna@example.org 5f2b6c1e-0d7a-4a57-9a3e-2f1d8c9b7e60",
  needsDatabase: true,
  async run(command, [email = "", subject = ""]) {
    const user = await withServices(command, async ({ users, oidc, audit }) => {
      if (oidc === undefined)
        throw new UsageError("No OpenID Connect provider is configured. Set oidc.issuer and oidc.clientId.");
      const user = requireUser(users, email);
      await oidc.identities.linkSubject(user.id, subject, (tx) =>
        audit.write(tx, auditEntry("identity.link", user, { subject })),
      );
      return user;
    });
    const issuer = command.config.oidc.issuer ?? "";
    command.terminal.out(`Linked ${user.email} to subject ${subject} of ${issuer}.\n`);
  },
});
