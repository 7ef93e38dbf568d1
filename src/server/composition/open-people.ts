/** Accounts and all about them: how they sign in, what they may, and who looks after them. */
import type { PlanConfig } from "../../config/settings.ts";
import type { Transaction } from "../../db/transaction.ts";
import { AccountAdministration } from "../../features/administration/admin-api/service.ts";
import { DailySamples } from "../../features/administration/admin-api/daily-samples.ts";
import { Statistics } from "../../features/administration/admin-api/statistics.ts";
import { ApiKeyService } from "../../features/accounts/api-keys/service.ts";
import { AuditLog } from "../../features/administration/audit/service.ts";
import { AuditTriggers } from "../../features/administration/audit/triggers.ts";
import { PasswordHasher } from "../../features/accounts/users/passwords.ts";
import { ProofService } from "../../features/accounts/auth/proof.ts";
import { AuthService } from "../../features/accounts/auth/service.ts";
import { TokenSigner } from "../../features/accounts/auth/tokens.ts";
import { EmailConfirmation } from "../../features/accounts/email-confirmation/service.ts";
import type { StorageLimits } from "../../features/library/files/service.ts";
import { InviteService } from "../../features/accounts/invites/service.ts";
import { openMail } from "../../features/accounts/mail/open.ts";
import { openSmtp } from "../../features/accounts/mail/smtp.ts";
import { openOidc } from "../../features/accounts/oidc/open.ts";
import { PasskeyService } from "../../features/accounts/passkeys/service.ts";
import { PasswordReset } from "../../features/accounts/password-reset/service.ts";
import { buildPlans, type PlanOverride } from "../../features/accounts/plans/plans.ts";
import { DownloadLedger } from "../../features/accounts/rate-limits/download-ledger.ts";
import { RateGate } from "../../features/accounts/rate-limits/guard.ts";
import { RateLimiter } from "../../features/accounts/rate-limits/limiter.ts";
import { SigninLimiter } from "../../features/accounts/rate-limits/signin-limiter.ts";
import { TwoFactorService } from "../../features/accounts/two-factor/service.ts";
import { eraseAccount } from "../../features/accounts/profile/erase-account.ts";
import { UserService } from "../../features/accounts/users/service.ts";
import type { User } from "../../features/accounts/users/types.ts";
import { rateLimitKey } from "../../http/client-address.ts";
import { availableBytes, totalBytes } from "../data/filesystem.ts";
import type { Storage } from "./open-storage.ts";

/** See the head of the file. */
export type People = ReturnType<typeof openPeople>;

/** Builds the services of this part, in order of dependency. */
export function openPeople(storage: Storage) {
  const { config, log, clock, paths, secrets, db, sqlite, writer, reader, events, treeWriter, onDetached } = storage;
  const { publicUrl, defaultPlan, signup } = config;
  const audit = new AuditLog({ db, reader, writer, clock, log, keepMs: config.audit.keepMs });
  const passwords = new PasswordHasher();
  const users = new UserService({
    db,
    writer,
    clock,
    passwords,
    events,
    verifiesEmail: config.mail.verify,
    createRoot: (tx, accountId) => treeWriter.createAccountRoot(tx, accountId),
  });
  const passkeys = new PasskeyService({ sqlite, writer, clock, events, users });
  const twoFactor = new TwoFactorService({
    sqlite,
    writer,
    clock,
    events,
    key: secrets.factors.secret,
    hasPasskeys: (userId) => passkeys.count(userId) > 0,
    isSignedInFrom: (userId, addressKey) =>
      auth.listSessions(userId).some(({ clientAddress }) => {
        return clientAddress !== null && rateLimitKey(clientAddress) === addressKey;
      }),
  });
  const apiKeys = new ApiKeyService({ sqlite, writer, clock, users, events });
  const auth = new AuthService({
    db,
    writer,
    clock,
    users,
    passwords,
    tokens: new TokenSigner(secrets.jwt),
    secondFactors: twoFactor,
    tokenLifetimeMs: config.tokenLifetimeMs,
    signup,
    defaultPlan,
  });

  const plans = buildPlans({
    overrides: {
      free: overrideOf(config.plans.free),
      pro: overrideOf(config.plans.pro),
      enterprise: overrideOf(config.plans.enterprise),
    },
    limitMultiplier: config.rateLimitScale,
    rateLimits: config.rateLimits ? "on" : "off",
  });
  const limiter = new RateLimiter({ db, writer, clock, log });
  const rateGate = new RateGate({
    limiter,
    signins: new SigninLimiter({ limiter, plans }),
    downloads: new DownloadLedger(),
    planOf: (name) => plans[name],
    findPlan: (email) => users.findByEmail(email)?.plan,
    clock,
  });
  const limitsOf = (user: User): StorageLimits => {
    const plan = plans[user.plan];
    return {
      plan: plan.name,
      maxFileSizeBytes: plan.maxFileSizeBytes,
      quotaBytes: user.quotaBytes === undefined ? plan.quotaBytes : user.quotaBytes,
    };
  };

  const { mail, mailNotices, mailDispatcher } = openMail({
    db,
    writer,
    clock,
    log,
    users,
    smtp: openSmtp(config),
    publicUrl,
  });
  const passwordReset = new PasswordReset({
    sqlite,
    writer,
    clock,
    log,
    users,
    auth,
    apiKeys,
    events,
    mail,
    publicUrl,
  });
  const emailConfirmation = new EmailConfirmation({ sqlite, writer, clock, log, users, mail, publicUrl });
  const oidc = openOidc({
    config,
    db,
    writer,
    clock,
    log,
    users,
    auth,
    secret: secrets.link.secret,
    onLinked: (tx, accountId, name) => mailNotices.signInLinked(tx, accountId, name),
  });

  const invites = new InviteService({
    db,
    writer,
    clock,
    users,
    mail,
    defaultPlan,
    signup,
  });
  const proof = new ProofService({
    writer,
    users,
    auth,
    rateGate,
    hasPasskeys: (userId) => passkeys.count(userId) > 0,
    isLinked: (userId) => oidc?.identities.isLinked(userId) ?? false,
    hasSecondFactor: (userId) => twoFactor.methodsOf(userId).length > 0,
  });
  const erase = (user: User, check?: (tx: Transaction) => unknown) =>
    eraseAccount({ db, writer, users, auth, treeWriter, onDetached: () => onDetached.wake() }, user, check);
  const accounts = new AccountAdministration({ reader, writer, users, auth, apiKeys, events, eraseAccount: erase });
  const statistics = new Statistics({
    reader,
    clock,
    queues: {
      push: "SELECT count(*) AS waiting FROM push_deliveries WHERE finished_at IS NULL",
      mail: "SELECT count(*) AS waiting FROM mails WHERE finished_at IS NULL",
      webhooks: "SELECT count(*) AS waiting FROM webhook_deliveries WHERE finished_at IS NULL",
      offline: "SELECT count(*) AS waiting FROM queue_operations WHERE status = 0",
    },
  });

  const dailySamples = new DailySamples({
    sqlite,
    writer,
    clock,
    statistics,
    disk: { freeBytes: () => availableBytes(paths.blobs), totalBytes: () => totalBytes(paths.blobs) },
  });

  return {
    audit,
    auditTriggers: new AuditTriggers(audit, (id) => users.findById(id)),
    passwords,
    users,
    passkeys,
    twoFactor,
    apiKeys,
    auth,
    plans,
    limiter,
    rateGate,
    limitsOf,
    mail,
    mailNotices,
    mailDispatcher,
    passwordReset,
    emailConfirmation,
    oidc,
    invites,
    proof,
    eraseAccount: erase,
    accounts,
    statistics,
    dailySamples,
  };
}

/** The configuration holds every number of a plan, with scale and preset applied. */
function overrideOf(plan: PlanConfig): PlanOverride {
  const { maxFileSizeBytes, quotaBytes, maxNodes, devices, limit } = plan;
  return { maxFileSizeBytes, quotaBytes, maxNodes, devices, limits: limit };
}
