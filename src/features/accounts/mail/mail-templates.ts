/** Mails that somebody requested. */
import { quoteName, renderMail } from "./render-mail.ts";
import type { MailMessage } from "./types.ts";

/** The mail with the link to set a new password. */
export function resetMail(link: string, lifetimeMs: number): MailMessage {
  return renderMail({
    subject: "Reset your password",
    paragraphs: [
      "Someone requested a password reset for your Larder account. To choose a new password, open this link:",
      `The link works once and expires in ${Math.round(lifetimeMs / 60_000)} minutes. If you did not request this, ` +
        "ignore this email. Your password does not change.",
    ],
    link: { label: "Choose a new password", url: link },
  });
}

/** The mail with the link that confirms an email address. */
export function confirmationMail(link: string): MailMessage {
  return renderMail({
    subject: "Confirm your email address",
    paragraphs: [
      "An account on a Larder server uses this email address. If the account is yours, open this link to confirm it:",
      "The link works once and expires in 24 hours. If the account is not yours, ignore this email. Until the address is " +
        "confirmed, the account can't share files or open files shared with this address.",
    ],
    link: { label: "Confirm email address", url: link },
  });
}

/**
 * The mail with an invitation.
 * @param invite.link the page that accepts it
 * @param invite.from the inviting person, if named
 */
export function inviteMail(invite: { link: string; from?: string; expiresAtMs: number }): MailMessage {
  const invited = invite.from === undefined ? "You are invited" : `${quoteName(invite.from)} invited you`;
  const until = new Date(invite.expiresAtMs).toUTCString();
  return renderMail({
    subject: "You are invited to Larder",
    paragraphs: [
      `${invited} to store files on this Larder server. To create your account, open this link:`,
      `The invitation is for you only and expires on ${until}.`,
    ],
    link: { label: "Create account", url: invite.link },
  });
}
