import type { Writer } from "../../db/transaction.ts";
import type { Job } from "../../jobs/scheduler.ts";
import type { ApiKeyService } from "./api-keys/service.ts";
import type { AppPasswordService } from "./app-passwords/service.ts";
import type { AuthService } from "./auth/service.ts";
import type { EmailConfirmation } from "./email-confirmation/service.ts";
import type { InviteService } from "./invites/service.ts";
import type { MailService } from "./mail/service.ts";
import type { PasswordReset } from "./password-reset/service.ts";
import type { RateLimiter } from "./rate-limits/limiter.ts";

/** Dependencies of the jobs of accounts. */
interface AccountsJobsOptions {
  readonly writer: Writer;
  readonly auth: AuthService;
  readonly apiKeys: ApiKeyService;
  readonly appPasswords: AppPasswordService;
  readonly mail: MailService;
  readonly passwordReset: PasswordReset;
  readonly emailConfirmation: EmailConfirmation;
  readonly invites: InviteService;
  readonly limiter: RateLimiter;
}

const SWEEP_ROWS = 1_000;

/** Removes expired records of sign-ins, keys, emails, invitations and rate limits. */
export function accountsJobs(options: AccountsJobsOptions): Job[] {
  const { writer, auth, apiKeys, appPasswords, limiter, invites } = options;
  return [
    {
      name: "sessions",
      schedule: "23 * * * *",
      description: "Removes expired sessions and refresh tokens.",
      deletesByAge: true,
      run: async () => `${await auth.sweepSessions(SWEEP_ROWS)} sessions and refresh tokens removed`,
    },
    {
      name: "api-keys",
      schedule: "19 4 * * *",
      description: "Removes records of API keys and app passwords that were deleted more than 90 days ago.",
      deletesByAge: true,
      run: async () =>
        `${await apiKeys.sweep(SWEEP_ROWS)} keys removed, ${await appPasswords.sweep(SWEEP_ROWS)} app passwords removed`,
    },
    mailJob(options),
    {
      name: "invites",
      schedule: "33 4 * * *",
      description: "Removes invitations that expired more than 90 days ago.",
      deletesByAge: true,
      run: async () => `${await writer.run(() => invites.sweep(SWEEP_ROWS))} invitations removed`,
    },
    {
      name: "rate-limits",
      schedule: "29 * * * *",
      description: "Removes rate-limit counts that are no longer needed.",
      run: async () => `${await limiter.prune()} rows removed`,
    },
  ];
}

function mailJob({ writer, mail, passwordReset, emailConfirmation }: AccountsJobsOptions): Job {
  return {
    name: "mail",
    schedule: "33 * * * *",
    description: "Drops emails that could not be sent in time, and removes delivery results after one week.",
    deletesByAge: true,
    async run() {
      const [mails, links, confirmations] = await writer.run((tx) => [
        mail.sweep(tx, SWEEP_ROWS),
        passwordReset.sweep(SWEEP_ROWS),
        emailConfirmation.sweep(SWEEP_ROWS),
      ]);
      return (
        `${mails} emails dropped or removed, ${links} password reset links removed, ` +
        `${confirmations} confirmation links removed`
      );
    },
  };
}
