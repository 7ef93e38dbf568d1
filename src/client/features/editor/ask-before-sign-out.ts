import { ignore } from "../../base/ignore.ts";
import { confirm } from "../../ui/confirm.tsx";
import { countDrafts, deleteDrafts } from "./drafts.ts";
import { text } from "./text.ts";

/**
 * Asks whether to sign out if unsaved texts of the account would be lost.
 * @returns what to do after the sign-out; undefined to stay signed in
 */
export async function askBeforeSignOut(userId: string): Promise<(() => Promise<void>) | undefined> {
  const count = await countDrafts(userId);
  const maySignOut =
    count === 0 ||
    (await confirm({
      title: text.signOutTitle,
      body: text.signOutBody({ count }),
      action: text.signOut,
      cancel: text.signOutCancel,
      danger: true,
    }));
  return maySignOut ? () => deleteDrafts(userId).catch(ignore) : undefined;
}
