import { SOURCE_KINDS } from "../../features/storage/imports/source.ts";
import { DATA_SETTINGS, defineCommand, UsageError } from "../shared/command.ts";
import { importFolder } from "./import-folder.ts";
import { importFromSource } from "./import-source.ts";

/** `larder import`: imports a folder of the machine, or from another system. Also while a server runs. */
export const define = defineCommand({
  argument: [
    "[paths...]",
    "Folder on this machine to import; with --from takeout, archives or folders that have them; with --from nextcloud, " +
      "the folder of one account in its data directory.",
  ],
  description:
    "Import a folder of this machine into an account, with names and modification times. The server may run at the same " +
    "time. Files that already exist with the same path, size, and time are skipped, so you can run the command again " +
    "after an interruption. Symbolic links, sockets, and devices are skipped. Tags, favorites, albums, and pins are " +
    "restored from an export made with --metadata.\n\n" +
    "With --from, import from another system, with albums, favorites, descriptions, and places. What an earlier import " +
    "stored is not stored again, and files that you deleted since then stay deleted.",
  options: [
    ["--user <email>", "Account to import into. (required)"],
    ["--folder <path>", "Target folder in the account. (default: /; with --from takeout and immich: /Photos)"],
    [
      `--from <${SOURCE_KINDS.join("|")}>`,
      "Import archives of Google Takeout as they were downloaded, all parts at once; an account of a Nextcloud, an " +
        "ownCloud, or a folder of another WebDAV server; or an account of an Immich.",
    ],
    ["--url <address>", "Address of the Nextcloud, the WebDAV folder, or the Immich."],
    ["--username <name>", "User name there, for a Nextcloud and WebDAV."],
    ["--secret-file <file>", "Read the app password or the API key from this file; - means standard input."],
    ["--again", "With --from: import files again that were deleted since an earlier import."],
    ["--report <file>", "With --from: write everything that was not imported to this file, as JSON."],
    [
      "--on-conflict <skip|version|rename>",
      "If the path has a different file: skip it, store a new version, or rename the imported file. (default: skip)",
    ],
    [
      "--link",
      "Use hard links instead of copies if the file system supports them. If you change a source file later, the stored " +
        "file is damaged.",
    ],
    ["--checksum", "Compare all files by checksum, not by size and time."],
    ["--rename", "Replace characters that are not allowed in names with _, instead of skipping those files."],
    ["--dry-run", "Print what would be imported without importing it."],
    ["--json", "Print the result as JSON."],
  ],
  settings: [...DATA_SETTINGS, "minFreeSpace"],
  examples:
    "larder import /home/anna/Pictures --user anna@example.org --folder /Pictures\n" +
    "larder import --from takeout /home/anna/Downloads --user anna@example.org\n" +
    "larder import --from immich --url https://photos.example.org --secret-file ./api-key --user anna@example.org",
  problems: "some files could not be imported; all others were",
  needsDatabase: true,
  run(command, paths) {
    const from = command.text("from");
    if (from !== undefined) return importFromSource(command, from, paths);
    const [directory, ...more] = paths;
    if (directory === undefined || more.length > 0) throw new UsageError("Specify one folder to import.");
    return importFolder(command, directory);
  },
});
