/** Letters that somebody asked for. */
import { quoteName, writeLetter } from "./letter.ts";
import type { Letter } from "./types.ts";

/** The letter with the link by which a new password is set. */
export function resetLetter(link: string, lifetimeMs: number): Letter {
  return writeLetter({
    subject: "Set a new password",
    paragraphs: [
      "Somebody asked for a new password for your Larder account. Open this address to choose it:",
      `The link works once, and for ${Math.round(lifetimeMs / 60_000)} minutes. If it wasn't you, do nothing: your ` +
        "password stays as it is.",
    ],
    link: { label: "Choose a new password", url: link },
  });
}

/** The letter with the link by which an e-mail address is confirmed. */
export function confirmationLetter(link: string): Letter {
  return writeLetter({
    subject: "Confirm your e-mail address",
    paragraphs: [
      "An account on a Larder server was given this e-mail address. If the account is yours, open this page and confirm it:",
      "The link works once, and for 24 hours. If the account is not yours, do nothing: without the confirmation it can't " +
        "share anything, and nothing that others share with this address opens in it.",
    ],
    link: { label: "Confirm this address", url: link },
  });
}

/**
 * The letter with an invitation.
 * @param invite.link where it is taken up
 * @param invite.from who invites, where they are to be named
 */
export function inviteLetter(invite: { link: string; from?: string; expiresAtMs: number }): Letter {
  const invited = invite.from === undefined ? "You are invited" : `${quoteName(invite.from)} invited you`;
  const until = new Date(invite.expiresAtMs).toUTCString();
  return writeLetter({
    subject: "An invitation to Larder",
    paragraphs: [
      `${invited} to keep files on this Larder server. Open this address to make your account:`,
      `The invitation is for you alone, and holds until ${until}.`,
    ],
    link: { label: "Make your account", url: invite.link },
  });
}
