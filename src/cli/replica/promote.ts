import { StartupError } from "../../config/startup-error.ts";
import { dataPaths } from "../../server/data/data-directory.ts";
import { findRunningServer, LockedError } from "../../server/data/lock.ts";
import { runPromotion } from "../../server/run-standby.ts";
import { StandbyFiles, type StandbyState } from "../../server/standby/standby-state.ts";
import { ALL_SETTINGS, defineCommand, EXIT, type ExitCode, type RunningCommand } from "../shared/command.ts";
import { runWithLog } from "../shared/run-with-log.ts";

/** How often the state of the standby is read. */
const POLL_MS = 200;

/** `larder promote`: makes this machine the owner of the store. */
export const define = defineCommand({
  description:
    "Make this machine the owner of the store, and serve. The owner before it must be stopped, or have sent no " +
    "heartbeat for one and a half lease times (replica.lease). Restores the newest state of the replica; a database that is in the " +
    "data directory is moved to set-aside/.\n\n" +
    "If larder standby runs on the data directory, it takes over and serves; this command ends then.",
  settings: ALL_SETTINGS,
  examples: "larder promote --data /srv/larder",
  problems: "the server failed while running",
  handlesWarnings: true,
  async run(command) {
    const { root, lock } = dataPaths(command.config.data);
    const running = findRunningServer(lock);
    if (running !== undefined) return askStandby(command, new StandbyFiles(root), running.pid);
    return promoteHere(command);
  },
});

function promoteHere(command: RunningCommand): Promise<ExitCode> {
  const { loaded, config, terminal } = command;
  return runWithLog(command, (log) => {
    const report = changedLines((text) => (config.log === "json" ? log.info(text) : terminal.error(`${text}\n`)));
    return runPromotion(loaded, log, { reload: () => command.readConfig(), report });
  });
}

/** Lets the running standby take over, and prints what it does. @throws StartupError with the reason if it fails */
async function askStandby(command: RunningCommand, files: StandbyFiles, pid: number | undefined): Promise<ExitCode> {
  const before = files.read();
  if (before === undefined || (pid !== undefined && before.pid !== pid)) throw otherProcess(pid);
  if (before.step === "serving") throw new StartupError(`This machine has taken over already. ${before.text}`);
  const report = changedLines((text) => command.terminal.error(`${text}\n`));
  files.request();
  for (;;) {
    const state = files.read();
    if (state === undefined || findRunningServer(dataPaths(command.config.data).lock) === undefined) {
      throw new StartupError("The standby has stopped. See its log.");
    }
    if (hasFailed(state, before)) throw new StartupError(state.failure ?? state.text);
    if (state.step !== "waiting") report(state.text);
    if (state.step === "serving") return EXIT.success;
    await Bun.sleep(POLL_MS);
  }
}

function hasFailed(state: StandbyState, before: StandbyState): boolean {
  return state.step === "waiting" && state.attempts > before.attempts;
}

function otherProcess(pid: number | undefined): LockedError {
  const holder = pid === undefined ? "Another process" : `Process ${pid}`;
  return new LockedError(`${holder} is running on this data directory, and is not a standby. Stop it first.`, pid);
}

/** Passes on each text once, until another one follows. */
function changedLines(write: (text: string) => void): (text: string) => void {
  let last = "";
  return (text) => {
    if (text === last) return;
    last = text;
    write(text);
  };
}
