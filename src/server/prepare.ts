/** Prepares an opened data directory for requests: recovery after a crash, then what the configuration asks for. */
import { readAdminPassword } from "../config/secrets.ts";
import { StartupError } from "../config/startup-error.ts";
import { findCopyStart } from "../features/storage/store-journal/opened-copy.ts";
import type { Services } from "./composition/services.ts";

/**
 * Recovers what a crash or a copy left unfinished, and applies the configuration.
 * @throws StartupError if the configuration names an administrator that it must not change
 */
export async function prepareServices(services: Services): Promise<void> {
  const { blobs, limiter, log } = services;
  const removed = blobs.sweepStaging();
  if (removed > 0) log.info("Removed files of unfinished uploads.", { files: removed });
  await services.derived.sweep();
  await services.remoteStore?.checkAtStart();
  await services.uploads.recover();
  await services.tus.recover();
  await services.clientUploads.recover();
  limiter.load();
  services.reserve.take();
  await mergeIfCopied(services);
  await services.users.renewEmailForms();
  await openUnconfirmed(services);
  services.settings.onChange(() => {
    openUnconfirmed(services).catch((error: unknown) =>
      services.log.error("Could not open the shares that were waiting for a confirmed email address.", { error }),
    );
  });
  await createFirstAdministrator(services);
}

/** Applies the metadata journal to a copy. Loads the code for it only then, to keep the start fast. */
async function mergeIfCopied(services: Services): Promise<void> {
  const copyStart = findCopyStart(services.sqlite);
  if (copyStart === undefined) return;
  const { mergeLater } = await import("./composition/merge-later.ts");
  await mergeLater(services, copyStart);
}

/** Opens the shares that wait for a confirmed email address: without mail.verify nobody can confirm one. */
async function openUnconfirmed({ config, receivedShares, log }: Services): Promise<void> {
  if (config.mail.verify) return;
  const shares = await receivedShares.claimUnconfirmed();
  if (shares === 0) return;
  log.info("mail.verify is off; opened the shares that were waiting for a confirmed email address.", { shares });
}

/**
 * Creates the administrator that the configuration names, unless an administrator exists.
 * @throws StartupError if another account has that email address
 */
async function createFirstAdministrator({ config, users, audit, log }: Services): Promise<void> {
  const password = readAdminPassword(config);
  if (!config.adminEmail || password === undefined || users.hasAdministrator()) return;
  const owner = users.findByEmail(config.adminEmail);
  if (owner !== undefined) {
    throw new StartupError(
      `adminEmail is ${owner.email}, but the account with this email is not an administrator. It was not changed, ` +
        `because anyone could have created it. If it is yours, run: larder user set ${owner.email} --admin. Otherwise, ` +
        "set another adminEmail.",
    );
  }
  const input = {
    email: config.adminEmail,
    password,
    role: "admin",
    plan: config.defaultPlan,
    isByAdministrator: true,
  } as const;
  const user = await users.add(input, (tx, id) => {
    const subject = { id: users.findById(id)?.publicId, email: input.email };
    audit.write(tx, { action: "user.create", outcome: "done", via: "system", subject, details: { role: "admin" } });
  });
  log.info("Created the first administrator from the configuration.", { email: user.email });
}
