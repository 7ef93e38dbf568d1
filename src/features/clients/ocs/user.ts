import { type AccountStorage, freeBytesOf } from "../account-storage.ts";
import type { User } from "../../accounts/users/types.ts";
import type { OcsData } from "./ocs-response.ts";

/** `quota` of an account without one, as the clients know it. */
const UNLIMITED = -3;

/** The signed-in account, in the fields of OCS: the clients read either form of the display name. */
export function userData({ publicId, email, name }: User, storage: AccountStorage): OcsData {
  const { usedBytes, quotaBytes } = storage;
  const free = freeBytesOf(storage);
  const total = quotaBytes ?? usedBytes + free;
  const displayName = name || email;
  return {
    // Clients put it into addresses, and do not encode a slash.
    id: email.includes("/") ? publicId : email,
    enabled: true,
    email,
    "display-name": displayName,
    displayname: displayName,
    quota: {
      free,
      used: usedBytes,
      total,
      relative: total === 0 ? 0 : Math.round((usedBytes / total) * 10_000) / 100,
      quota: quotaBytes ?? UNLIMITED,
    },
  };
}
