import type { Db } from "../../../db/open.ts";
import { MailDispatcher, type MailDispatcherOptions } from "./dispatcher.ts";
import { MailNotices, type MailNoticesOptions } from "./notices.ts";
import { MailOutbox } from "./outbox.ts";
import { MailService } from "./service.ts";
import type { Smtp } from "./smtp.ts";

/** The parts of this feature. */
interface MailParts extends Omit<MailDispatcherOptions, "outbox" | "transport">, Pick<MailNoticesOptions, "users"> {
  readonly db: Db;
  /** The mail server at the time of a mail; `current` is undefined if none is set. */
  readonly smtp: { readonly current: Smtp | undefined };
  /** Address of this server, for links in mails; null if no mail is sent. */
  readonly publicUrl: string | null;
}

/** Builds the parts of the feature over one outbox. Sends nothing until the dispatcher is started. */
export function openMail(parts: MailParts) {
  const outbox = new MailOutbox(parts.db.sqlite);
  const mailDispatcher = new MailDispatcher({ ...parts, outbox, transport: () => parts.smtp.current });
  const mail = new MailService({
    ...parts,
    outbox,
    senderDomain: () => parts.smtp.current?.sender.domain,
    onQueued: () => mailDispatcher.wake(),
  });
  const mailNotices = new MailNotices({ mail, users: parts.users, baseUrl: parts.publicUrl ?? "" });
  return { mail, mailNotices, mailDispatcher };
}
