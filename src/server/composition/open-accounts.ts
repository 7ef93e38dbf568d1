/** Opens accounts: sign-in, plans and rate limits, mail to users, and administration. */
import { EDITABLE_KEYS } from "../../config/editable.ts";
import type { Config, PlanConfig } from "../../config/settings.ts";
import type { Transaction } from "../../db/transaction.ts";
import { AccountAdministration } from "../../features/administration/admin-api/service.ts";
import { DailySamples } from "../../features/administration/admin-api/daily-samples.ts";
import { Statistics } from "../../features/administration/admin-api/statistics.ts";
import { ApiKeyService } from "../../features/accounts/api-keys/service.ts";
import { AppPasswordService } from "../../features/accounts/app-passwords/service.ts";
import { WrongAppPasswords } from "../../features/accounts/app-passwords/wrong-passwords.ts";
import { AuditLog } from "../../features/administration/audit/service.ts";
import { AuditTriggers } from "../../features/administration/audit/triggers.ts";
import { PasswordHasher } from "../../features/accounts/users/passwords.ts";
import { ProofService } from "../../features/accounts/auth/proof.ts";
import { AuthService } from "../../features/accounts/auth/service.ts";
import { TokenSigner } from "../../features/accounts/auth/tokens.ts";
import { EmailConfirmation } from "../../features/accounts/email-confirmation/service.ts";
import type { StorageLimits } from "../../features/library/files/storage-limits.ts";
import { InviteService } from "../../features/accounts/invites/service.ts";
import { openMail } from "../../features/accounts/mail/open.ts";
import { MailServer } from "../../features/accounts/mail/mail-server.ts";
import { openOidc } from "../../features/accounts/oidc/open.ts";
import { PasskeyService } from "../../features/accounts/passkeys/service.ts";
import { PasswordLinks } from "../../features/accounts/welcome/password-links.ts";
import { Welcome } from "../../features/accounts/welcome/service.ts";
import { PasswordReset } from "../../features/accounts/password-reset/service.ts";
import { GroupService } from "../../features/accounts/groups/service.ts";
import { PeopleService } from "../../features/accounts/people/service.ts";
import { buildPlans, type PlanOverride } from "../../features/accounts/plans/plans.ts";
import { DownloadLedger } from "../../features/accounts/rate-limits/download-ledger.ts";
import { RateGate } from "../../features/accounts/rate-limits/guard.ts";
import { RateLimiter } from "../../features/accounts/rate-limits/limiter.ts";
import { SigninLimiter } from "../../features/accounts/rate-limits/signin-limiter.ts";
import { TwoFactorService } from "../../features/accounts/two-factor/service.ts";
import type { CredentialRevoker } from "../../features/accounts/profile/change-profile.ts";
import { eraseAccount } from "../../features/accounts/profile/erase-account.ts";
import { UserService } from "../../features/accounts/users/service.ts";
import type { User } from "../../features/accounts/users/types.ts";
import { rateLimitKey } from "../../http/client-address.ts";
import { availableBytes, totalBytes } from "../data/filesystem.ts";
import type { Storage } from "./open-storage.ts";

/** The services of {@link openAccounts}. */
export type Accounts = ReturnType<typeof openAccounts>;

/** Builds accounts, in order of dependency. */
export function openAccounts(storage: Storage) {
  const { config, db, writer, secrets, treeWriter, onDetached } = storage;
  const { publicUrl } = config;
  const audit = new AuditLog({ ...storage, keepMs: config.audit.keepMs });
  const signIn = openSignIn(storage);
  const { users, auth, apiKeys, passkeys, twoFactor } = signIn;
  const limits = openLimits(storage, users);
  const wrongPasswords = new WrongAppPasswords({ ...storage, limiter: limits.limiter });
  const appPasswords = new AppPasswordService({ ...storage, users, wrongPasswords });
  const mailServer = openMailServer(storage);
  const { mail, mailNotices, mailDispatcher } = openMail({ ...storage, users, smtp: mailServer, publicUrl });
  const credentialRevoker: CredentialRevoker = {
    revokeAll(tx, userId) {
      apiKeys.revokeAll(tx, userId);
      appPasswords.revokeAll(tx, userId);
    },
  };
  const withMail = { ...storage, users, auth, credentialRevoker, mail, publicUrl };
  const passwordReset = new PasswordReset(withMail);
  const welcome = new Welcome(withMail);
  const oidc = openOidc({
    ...storage,
    users,
    auth,
    secret: secrets.link.secret,
    onLinked: (tx, accountId, name) => mailNotices.signInLinked(tx, accountId, name),
  });
  const proof = new ProofService({
    writer,
    users,
    auth,
    rateGate: limits.rateGate,
    hasPasskeys: (userId) => passkeys.count(userId) > 0,
    isLinked: (userId) => oidc?.identities.isLinked(userId) ?? false,
    hasSecondFactor: (userId) => twoFactor.methodsOf(userId).length > 0,
  });
  const erase = (user: User, check?: (tx: Transaction) => unknown) =>
    eraseAccount({ db, writer, users, auth, treeWriter, onDetached: () => onDetached.wake() }, user, check);
  return {
    audit,
    auditTriggers: new AuditTriggers(audit, (id) => users.findById(id)),
    ...signIn,
    appPasswords,
    credentialRevoker,
    ...limits,
    mail,
    mailServer,
    mailNotices,
    mailDispatcher,
    passwordReset,
    welcome,
    passwordLinks: new PasswordLinks({ ...storage, passwordReset, welcome }),
    emailConfirmation: new EmailConfirmation(withMail),
    oidc,
    invites: new InviteService(withMail),
    proof,
    ...openPeople(storage, users),
    eraseAccount: erase,
    accounts: new AccountAdministration({
      ...storage,
      users,
      auth,
      appPasswords,
      credentialRevoker,
      eraseAccount: erase,
    }),
    ...openStatistics(storage),
  };
}

/** Builds accounts and the ways to sign in to them. */
function openSignIn(storage: Storage) {
  const { config, secrets, treeWriter } = storage;
  const passwords = new PasswordHasher();
  const users = new UserService({
    ...storage,
    passwords,
    verifiesEmail: () => config.mail.verify,
    createRoot: (tx, accountId) => treeWriter.createAccountRoot(tx, accountId),
  });
  const passkeys = new PasskeyService({ ...storage, users });
  const twoFactor = new TwoFactorService({
    ...storage,
    key: secrets.factors.secret,
    hasPasskeys: (userId) => passkeys.count(userId) > 0,
    isSignedInFrom: (userId, addressKey) =>
      auth.listSessions(userId).some(({ clientAddress }) => {
        return clientAddress !== null && rateLimitKey(clientAddress) === addressKey;
      }),
  });
  const auth = new AuthService({
    ...storage,
    users,
    passwords,
    tokens: new TokenSigner(secrets.jwt),
    secondFactors: twoFactor,
    tokenLifetimeMs: config.tokenLifetimeMs,
  });
  return { passwords, users, passkeys, twoFactor, apiKeys: new ApiKeyService({ ...storage, users }), auth };
}

/** Builds groups, and the search for people. */
function openPeople(storage: Storage, users: UserService) {
  const groups = new GroupService({ ...storage, users, noteEnded: () => storage.endedShares.note() });
  return { groups, people: new PeopleService({ ...storage, users, groups }) };
}

/** Builds the plans, and the limits that they set. */
function openLimits(storage: Storage, users: UserService) {
  const { config, clock, settings } = storage;
  const plans = plansOf(config);
  // In place: everything that checks an amount or a rate holds this object.
  settings.onChange(() => Object.assign(plans, plansOf(config)));
  const limiter = new RateLimiter(storage);
  const rateGate = new RateGate({
    limiter,
    signins: new SigninLimiter({ limiter, plans }),
    downloads: new DownloadLedger(),
    planOf: (name) => plans[name],
    findPlan: (email) => users.findByEmail(email)?.plan,
    clock,
  });
  const limitsOf = (user: User): StorageLimits => {
    const { name, maxFileSizeBytes, quotaBytes } = plans[user.plan];
    return { plan: name, maxFileSizeBytes, quotaBytes: user.quotaBytes === undefined ? quotaBytes : user.quotaBytes };
  };
  return { plans, limiter, rateGate, limitsOf };
}

function plansOf(config: Config) {
  return buildPlans({
    overrides: {
      free: planOverride(config.plans.free),
      pro: planOverride(config.plans.pro),
      enterprise: planOverride(config.plans.enterprise),
    },
    limitMultiplier: config.rateLimitScale,
    rateLimits: config.rateLimits ? "on" : "off",
  });
}

/** Opens the mail server, and opens it again when its settings change. */
function openMailServer(storage: Storage): MailServer {
  const { settings } = storage;
  const mailServer = new MailServer({
    ...storage,
    isHostStored: () => settings.isStored("mail.host"),
    isStored: () => EDITABLE_KEYS.some((key) => key.startsWith("mail.") && settings.isStored(key)),
  });
  settings.addCheck("mail", (config) => void mailServer.check(config));
  settings.onChange(() => mailServer.reopen());
  return mailServer;
}

/** Builds the statistics of the server, and their daily samples. */
function openStatistics(storage: Storage) {
  const { blobs: folder } = storage.paths;
  const statistics = new Statistics({
    ...storage,
    queues: {
      push: "SELECT count(*) AS waiting FROM push_deliveries WHERE finished_at IS NULL",
      mail: "SELECT count(*) AS waiting FROM mails WHERE finished_at IS NULL",
      webhooks: "SELECT count(*) AS waiting FROM webhook_deliveries WHERE finished_at IS NULL",
      offline: "SELECT count(*) AS waiting FROM queue_operations WHERE status = 0",
    },
  });
  const disk = { freeBytes: () => availableBytes(folder), totalBytes: () => totalBytes(folder) };
  return { statistics, dailySamples: new DailySamples({ ...storage, statistics, disk }) };
}

/** The values that the configuration sets for a plan, with scale and preset applied. */
function planOverride(plan: PlanConfig): PlanOverride {
  const { maxFileSizeBytes, quotaBytes, maxNodes, devices, limit } = plan;
  return { maxFileSizeBytes, quotaBytes, maxNodes, devices, limits: limit };
}
