/**
 * Shares an item with several people and groups: all or nothing. A recipient who already has a share keeps it,
 * with the requested permission.
 */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, invalidField } from "../../../errors.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { PeopleService } from "../../accounts/people/service.ts";
import { emailKey, parseEmail } from "../../accounts/users/email.ts";
import type { User } from "../../accounts/users/types.ts";
import { insertShare } from "./insert-share.ts";
import type { GroupNotices } from "./group-notices.ts";
import { type ShareRows, SHARES_OF_NODE_MAX } from "./queries.ts";
import { type CheckedRequest, checkNewShare } from "./settings.ts";
import type { ShareTokens } from "./tokens.ts";
import type { Recipient, Share, SharedItem, SharedWithMany, ShareRequest } from "./types.ts";

/** Dependencies of {@link PeopleShares}. */
interface PeopleSharesOptions {
  readonly rows: ShareRows;
  readonly tokens: ShareTokens;
  readonly writer: Pick<Writer, "run">;
  readonly clock: Clock;
  readonly events: Events;
  readonly people: Pick<PeopleService, "findPerson" | "findGroup">;
  readonly notices: Pick<GroupNotices, "queue">;
  /** The account with an email that is confirmed. */
  readonly findByEmail: (emailKey: string) => User | undefined;
}

/** A new share, before its recipients are known. */
interface Request {
  readonly user: User;
  readonly settings: ShareRequest;
  readonly find: () => SharedItem;
}

/** Most people and groups of one request. */
const RECIPIENTS_MAX = 50;
const PERSON_ID = /^usr_/;

/** Whether a request names several recipients. An empty list counts, because it must not become a public link. */
export function isForMany({ users, groups }: ShareRequest): boolean {
  return users !== undefined || groups !== undefined;
}

/** Makes and changes the shares of an item with people and groups. */
export class PeopleShares {
  readonly #options: PeopleSharesOptions;

  constructor(options: PeopleSharesOptions) {
    this.#options = options;
  }

  /**
   * @param find finds the item, again inside the transaction
   * @throws AppError invalid_field | invalid_request; what `find` throws
   */
  async create({ user, settings, find }: Request): Promise<SharedWithMany> {
    const { rows, writer, clock } = this.#options;
    const { user: one, users = [], groups = [], ...rest } = settings;
    const names = [...(typeof one === "string" ? [one] : []), ...users];
    const count = names.length + groups.length;
    if (count === 0 || count > RECIPIENTS_MAX) {
      throw invalidField("users", say`Name 1 to ${RECIPIENTS_MAX} people and groups.`);
    }
    const checked = checkNewShare(rest, find().kind, clock.nowMs(), true);
    const emails = names.filter((name) => !PERSON_ID.test(name)).map((name) => emailKey(parseEmail(name, "users")));
    if (emails.includes(emailKey(user.email))) throw sharedWithSelf();
    return writer.run((tx) => {
      const node = find();
      const recipients = this.#findRecipients(user, { names, emails, groups });
      const existing = rows.of(node);
      const shares: Share[] = [];
      const updated: string[] = [];
      for (const recipient of recipients) {
        const former = existing.find((share) => isFor(share, recipient));
        if (former === undefined) shares.push(this.#add(tx, { user, node, recipient, checked }));
        else {
          shares.push(this.#update(former, checked, settings));
          updated.push(former.publicId);
        }
      }
      if (existing.length + shares.length - updated.length > SHARES_OF_NODE_MAX) {
        throw new AppError("invalid_request", say`An item can have at most ${SHARES_OF_NODE_MAX} shares.`);
      }
      return { shares: shares.map((share) => ({ share, node })), updated };
    });
  }

  /** Each recipient once. */
  #findRecipients(
    user: User,
    named: {
      readonly names: readonly string[];
      readonly emails: readonly string[];
      readonly groups: readonly string[];
    },
  ): Recipient[] {
    const { people, findByEmail } = this.#options;
    const ofEmails = [...new Set(named.emails)].map((key) => {
      return { emailKey: key, userId: findByEmail(key)?.id ?? null, groupId: null };
    });
    const ids = new Set(named.names.filter((name) => PERSON_ID.test(name)));
    const ofPeople = [...ids].map((id) => {
      const person = people.findPerson(id);
      if (person === undefined) throw invalidField("users", say`One of the people was not found. Choose them again.`);
      if (person.id === user.id) throw sharedWithSelf();
      return { emailKey: null, userId: person.id, groupId: null };
    });
    const ofGroups = [...new Set(named.groups)].map((id) => {
      const group = people.findGroup(user, id);
      if (group === undefined) throw invalidField("groups", say`One of the groups was not found. Choose them again.`);
      return { emailKey: null, userId: null, groupId: group.id };
    });
    return [...ofEmails, ...ofPeople, ...ofGroups];
  }

  #add(
    tx: Transaction,
    share: {
      readonly user: User;
      readonly node: SharedItem;
      readonly recipient: Recipient;
      readonly checked: CheckedRequest;
    },
  ): Share {
    const made = insertShare(tx, this.#options, { ...share, passwordHash: null, pinnedVersion: null });
    if (made.groupId !== null) this.#options.notices.queue(tx, made.id);
    return made;
  }

  /** Gives an existing share the requested settings; those that were not requested stay. */
  #update(former: Share, checked: CheckedRequest, requested: ShareRequest): Share {
    const { rows, clock } = this.#options;
    const isExpired = former.expiresAtMs !== null && former.expiresAtMs <= clock.nowMs();
    const setsExpiry = requested.expiresAt !== undefined || requested.expiresIn !== undefined;
    rows.update({
      ...former,
      canWrite: checked.canWrite,
      showsVersions: checked.showsVersions,
      expiresAtMs: setsExpiry || isExpired ? checked.expiresAtMs : former.expiresAtMs,
      label: requested.label === undefined ? former.label : checked.label,
    });
    // Members who hid it see it again: it was shared with them once more.
    if (former.groupId !== null) rows.showAgain(former.id);
    return this.#get(former.publicId);
  }

  #get(publicId: string): Share {
    const share = this.#options.rows.find(publicId);
    if (share === undefined) throw new Error("a share that was just written exists");
    return share;
  }
}

/**
 * Whether a share is for a recipient as it was named. A share for an email is not compared with one for an id, because
 * that would show which account has the email.
 */
function isFor(share: Share, { emailKey: key, userId, groupId }: Recipient): boolean {
  if (share.kind !== "account") return false;
  if (groupId !== null) return share.groupId === groupId;
  if (key !== null) return share.recipientEmailKey === key;
  return share.groupId === null && share.recipientEmailKey === null && share.recipientId === userId;
}

function sharedWithSelf(): AppError {
  return invalidField("users", say`You can't share with your own account. Choose other people.`);
}
