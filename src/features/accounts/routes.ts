import type { Config } from "../../config/settings.ts";
import { type ApiKeyRoutesOptions, apiKeyRoutes } from "./api-keys/routes.ts";
import { type AppPasswordRoutesOptions, appPasswordRoutes } from "./app-passwords/routes.ts";
import { confirmRoutes } from "./auth/confirm-routes.ts";
import { type AuthRoutesOptions, authRoutes, sessionRoutes } from "./auth/routes.ts";
import type { EmailConfirmation } from "./email-confirmation/service.ts";
import { emailConfirmationRoutes } from "./email-confirmation/routes.ts";
import { type GroupRoutesOptions, groupRoutes, memberRoutes } from "./groups/routes.ts";
import { type InviteRoutesOptions, inviteRoutes } from "./invites/routes.ts";
import { oidcLinkRoutes } from "./oidc/link-routes.ts";
import { type OidcRoutesOptions, oidcRoutes } from "./oidc/routes.ts";
import {
  passkeyConfirmRoutes,
  type PasskeyRoutesOptions,
  passkeyRoutes,
  passkeySignInRoutes,
} from "./passkeys/routes.ts";
import { type PeopleRoutesOptions, peopleRoutes } from "./people/routes.ts";
import { passwordResetRoutes } from "./password-reset/routes.ts";
import { type WelcomeRoutesOptions, welcomeRoutes } from "./welcome/routes.ts";
import type { PasswordReset } from "./password-reset/service.ts";
import type { ProofCheck } from "./auth/proof.ts";
import { ownUsageRoutes, type UserRoutesOptions, userRoutes } from "./profile/routes.ts";
import type { Router } from "./routing/router.ts";
import { type SetupRoutesOptions, setupRoutes } from "./setup/routes.ts";
import { type TwoFactorRoutesOptions, twoFactorRoutes } from "./two-factor/routes.ts";
import type { User } from "./users/types.ts";

/** Dependencies of the routes of accounts. */
interface AccountsRoutesOptions
  extends Omit<AuthRoutesOptions, "tokenLifetimeMs">,
    Omit<UserRoutesOptions, "usageOf" | "eraseAccount" | "versionsMax">,
    ApiKeyRoutesOptions,
    AppPasswordRoutesOptions,
    Omit<TwoFactorRoutesOptions, "countPasskeys">,
    Omit<PasskeyRoutesOptions, "tokenLifetimeMs">,
    Pick<OidcRoutesOptions, "oidc" | "methodsAt">,
    Omit<InviteRoutesOptions, "basePath">,
    GroupRoutesOptions,
    PeopleRoutesOptions,
    Omit<WelcomeRoutesOptions, "basePath">,
    Pick<SetupRoutesOptions, "onSetUp" | "setupScripts"> {
  readonly config: Pick<Config, "basePath" | "tokenLifetimeMs" | "signup" | "defaultPlan" | "versions">;
  readonly emailConfirmation: EmailConfirmation;
  readonly passwordReset: PasswordReset;
  readonly usageOf: (user: User) => object;
  readonly eraseAccount: (user: User, checkProof: ProofCheck) => Promise<void>;
}

/**
 * Sign-up and sign-in, the own account, keys, second factors, invitations; and the pages to which their emails link.
 */
export function accountsRoutes(options: AccountsRoutesOptions): Router[] {
  const { config, passkeys, usageOf, eraseAccount } = options;
  const { basePath, tokenLifetimeMs, versions } = config;
  const own: UserRoutesOptions = {
    ...options,
    versionsMax: () => versions.keep,
    usageOf: ({ user }) => usageOf(user),
    eraseAccount: ({ user }, checkProof) => eraseAccount(user, checkProof),
  };
  const settings = { ...options, basePath, tokenLifetimeMs };
  return [
    authRoutes(settings),
    sessionRoutes(settings),
    confirmRoutes(options),
    userRoutes(own),
    ownUsageRoutes(own),
    apiKeyRoutes(options),
    appPasswordRoutes(options),
    twoFactorRoutes({ ...options, countPasskeys: (userId) => passkeys.count(userId) }),
    passkeyRoutes(settings),
    passkeySignInRoutes(settings),
    passkeyConfirmRoutes(settings),
    emailConfirmationRoutes({ ...settings, confirmations: options.emailConfirmation }),
    passwordResetRoutes({ ...settings, resets: options.passwordReset }),
    welcomeRoutes(settings),
    oidcRoutes(settings),
    oidcLinkRoutes(settings),
    inviteRoutes(settings),
    groupRoutes(options),
    memberRoutes(options),
    peopleRoutes(options),
    setupRoutes(settings),
  ];
}
