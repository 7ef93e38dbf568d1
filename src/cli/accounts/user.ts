import { defineCommand } from "../shared/command.ts";
import { add } from "./add.ts";
import { appPasswordCommand } from "./app-password.ts";
import { erase } from "./erase.ts";
import { invite } from "./invite.ts";
import { linkOidc } from "./link-oidc.ts";
import { list } from "./list.ts";
import { resetLinkCommand } from "./reset-link.ts";
import { set } from "./set.ts";
import { setupLink } from "./setup-link.ts";
import { token } from "./token.ts";

/** `larder user …`: manages accounts, also while a server runs. */
export const define = defineCommand({
  description: "Manage accounts. The server may run at the same time; changes take effect immediately.",
  examples: "echo 'correct horse battery' | larder user add anna@example.org --admin --password-stdin",
  subcommands: [
    ["add <email>", "Add an account.", add],
    ["set <email>", "Change an account.", set],
    ["list", "List all accounts.", list],
    ["token <email>", "Print a session token for a script.", token],
    ["app-password <email>", "Create an app password for a program.", appPasswordCommand],
    ["reset-link <email>", "Create a password reset link.", resetLinkCommand],
    ["invite", "Create an invite link.", invite],
    ["erase <email>", "Delete an account and all its files.", erase],
    ["link-oidc <email> <subject>", "Link an account to a single sign-on user.", linkOidc],
    ["setup-link", "Create a new link to the set-up page.", setupLink],
  ],
});
