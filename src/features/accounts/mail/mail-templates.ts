/** Mails that somebody requested. */
import { formatInstant } from "../../../translations/formats.ts";
import { renderMail, safeName } from "./render-mail.ts";
import { mailTexts } from "./text.ts";
import type { MailMessage } from "./types.ts";

/** The mail with the link to set a new password. */
export function resetMail(language: string, link: string, lifetimeMs: number): MailMessage {
  const text = mailTexts(language);
  return renderMail(language, {
    subject: text.reset,
    paragraphs: [text.resetLead, text.resetEnd({ minutes: Math.round(lifetimeMs / 60_000) })],
    link: { label: text.resetLink, url: link },
  });
}

/** The mail with the link that confirms an email address. */
export function confirmationMail(language: string, link: string): MailMessage {
  const text = mailTexts(language);
  return renderMail(language, {
    subject: text.confirm,
    paragraphs: [text.confirmLead, text.confirmEnd],
    link: { label: text.confirmLink, url: link },
  });
}

/**
 * The mail with an invitation.
 * @param invite.link the page that accepts it
 * @param invite.from the inviting person, if named
 */
export function inviteMail(
  language: string,
  invite: { link: string; from?: string; expiresAtMs: number },
): MailMessage {
  const text = mailTexts(language);
  return renderMail(language, {
    subject: text.invite,
    paragraphs: [
      invite.from === undefined ? text.inviteLead : text.inviteLeadFrom({ name: safeName(invite.from) }),
      text.inviteEnd({ time: formatInstant(language, invite.expiresAtMs) }),
    ],
    link: { label: text.inviteLink, url: invite.link },
  });
}

/** The mail that shows that mails arrive. */
export function testMail(language: string): MailMessage {
  const text = mailTexts(language);
  return renderMail(language, { subject: text.test, paragraphs: [text.testText] });
}
