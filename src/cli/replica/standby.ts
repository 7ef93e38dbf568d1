import { runStandby } from "../../server/run-standby.ts";
import { ALL_SETTINGS, defineCommand } from "../shared/command.ts";
import { runWithLog } from "../shared/run-with-log.ts";

/** `larder standby`: waits beside the owner of the store, with a copy of its database. */
export const define = defineCommand({
  description:
    "Wait beside the server that owns the store, with an up-to-date copy of its database. Every request gets status 503 " +
    "until this machine takes over, by larder promote or, with standby.automatic, when the owner sends no heartbeats. A " +
    "directory that owns the store serves at once. So this can be the service on both machines.\n\n" +
    "An owner that was stopped in order is not replaced automatically. An old owner that returns becomes the standby: " +
    "changes that only it has are moved to set-aside/ in the data directory.",
  settings: ALL_SETTINGS,
  examples: "larder standby --data /srv/larder\nlarder standby --data /srv/larder --standby-automatic",
  problems: "the server failed while running",
  handlesWarnings: true,
  run: (command) => runWithLog(command, (log) => runStandby(command.loaded, log, () => command.readConfig())),
});
