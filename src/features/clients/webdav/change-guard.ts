/**
 * Stops a program that deletes or replaces far more files than usual, as the guard of devices does. A WebDAV request
 * can't wait for a person, so nothing is queued: the request fails, and the program repeats it after the approval.
 */
import { AppError } from "../../../errors.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { AppPasswordPrincipal } from "../../accounts/auth/principal.ts";
import { type MassChangeGuard, WINDOW_MS } from "../../mobile/mass-change/mass-change-guard.ts";

/** Dependencies of {@link ChangeGuard}. */
interface ChangeGuardOptions {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly massChangeGuard: Pick<MassChangeGuard, "countDirect">;
}

/** An editor does not save more often: a program that does may be broken. */
const SAVED_EVERY_MS = 1_000;

/** Counts deletions and replacements per app password. */
export class ChangeGuard {
  readonly #options: ChangeGuardOptions;

  constructor(options: ChangeGuardOptions) {
    this.#options = options;
  }

  /**
   * Counts changes, and admits them if they are not too many. A transaction of its own: a rejection is stored.
   * @param settingsUrl the page on which people approve the changes
   * @throws AppError confirmation_required
   */
  async count(
    { user, appPassword }: AppPasswordPrincipal,
    changes: { readonly deletions?: number; readonly replacements?: number },
    settingsUrl: string,
  ): Promise<void> {
    const { writer, massChangeGuard } = this.#options;
    const { deviceId: id, publicId, name } = appPassword;
    const { deletions = 0, replacements = 0 } = changes;
    const hold = await writer.run((tx) =>
      massChangeGuard.countDirect(tx, { id, publicId, name }, user.id, { deletions, replacements }),
    );
    if (hold === undefined) return;
    throw new AppError(
      "confirmation_required",
      say`"${name}" is deleting or replacing far more files than usual, so Larder stopped it. To approve this for one hour, open ${settingsUrl}`,
      { holdId: hold.publicId },
    );
  }

  /**
   * Counts the next content of a file once within the window of the guard: an editor that saves every few seconds
   * replaces one file, not hundreds. An empty content is none that could be lost: LOCK gives it to a new file.
   * @throws AppError confirmation_required
   */
  async countContent(
    principal: AppPasswordPrincipal,
    { version, sizeBytes, contentAtMs, contentDeviceId }: FileNode,
    settingsUrl: string,
  ): Promise<void> {
    if (sizeBytes === 0) return;
    const ageMs = this.#options.clock.nowMs() - contentAtMs;
    const isSavedAgain = ageMs >= SAVED_EVERY_MS && ageMs < WINDOW_MS;
    // The first content replaced nothing, so it was not counted.
    const wasCounted = isSavedAgain && version > 1 && contentDeviceId === principal.appPassword.deviceId;
    await this.count(principal, { replacements: wasCounted ? 0 : 1 }, settingsUrl);
  }
}
