import { defineText } from "../../../base/text.ts";
import type { FamilyName } from "./families.ts";

const KINDS = { phone: "Phone", computer: "Computer", program: "Program" } as const;

const NAMES: Readonly<Record<FamilyName, string>> = {
  "nextcloud-phone": "Nextcloud app (Android)",
  "webdav-phone": "PhotoSync or another WebDAV app (iPhone, Android)",
  "desktop-client": "Nextcloud or ownCloud desktop client",
  windows: "Windows Explorer",
  macos: "macOS Finder",
  linux: "Files on Linux (GNOME)",
  rclone: "rclone",
  other: "Any other WebDAV program",
};

const HINTS: Readonly<Record<FamilyName, string>> = {
  "nextcloud-phone": "Uploads new photos automatically, and opens your files.",
  "webdav-phone": "Uploads photos. Apps such as FolderSync sync folders.",
  "desktop-client": "Syncs folders in both directions.",
  windows: "Shows your files as a network drive.",
  macos: "Shows your files as a network drive on a Mac.",
  linux: "Shows your files as a network folder.",
  rclone: "Copies, syncs, and mounts from the command line.",
  other: "Joplin, KeePass, Obsidian, davfs2, and more.",
};

/** Name to suggest for the app password. */
const SHORT_NAMES: Readonly<Record<FamilyName, string>> = {
  "nextcloud-phone": "Nextcloud app",
  "webdav-phone": "Phone",
  "desktop-client": "Desktop client",
  windows: "Windows Explorer",
  macos: "macOS Finder",
  linux: "Linux Files",
  rclone: "rclone",
  other: "WebDAV program",
};

type Steps = readonly [string, string, string];

const STEPS: Readonly<Record<FamilyName, Steps>> = {
  "nextcloud-phone": [
    "Install the Nextcloud app on your phone. Then create an app password below.",
    "In the app, select “Log in” and scan the QR code. If this page is open on the phone itself, enter the server address in the app instead, and select “Allow access” in the browser that opens.",
    "In the app's settings, turn on auto upload for your photos.",
  ],
  "webdav-phone": [
    "Install the app on your phone. Then create an app password below.",
    "In the app, add a WebDAV connection. Enter the address, your user name, and the app password.",
    "Choose what to upload or sync.",
  ],
  "desktop-client": [
    "Install the client, and enter the server address.",
    "The Nextcloud client opens a page in your browser: select “Allow access” there. The ownCloud client asks for your user name and an app password.",
    "Choose the folders to sync.",
  ],
  windows: [
    "Create an app password below.",
    "In Explorer, open This PC and select “Map network drive”. Enter the address as the folder, and select “Connect using different credentials”.",
    "Enter your user name and the app password. Windows opens files of up to 50 MB. For larger files, use a desktop client or the browser.",
  ],
  macos: [
    "Create an app password below.",
    "In Finder, select “Go” and “Connect to Server”. Enter the address.",
    "Select “Registered User”, and enter your user name and the app password.",
  ],
  linux: [
    "Create an app password below.",
    "In Files, open “Other Locations” or “Network”. Enter the address under “Connect to Server”.",
    "Enter your user name and the app password.",
  ],
  rclone: [
    "Install rclone. Then create an app password below.",
    "Run the command that appears with the app password in a terminal, on Windows in PowerShell.",
    "To test the connection, run: rclone lsd larder:",
  ],
  other: [
    "Create an app password below.",
    "In the program, choose WebDAV and enter the address.",
    "Enter your user name and the app password.",
  ],
};

/** The text of “Connect your devices”. */
export const text = defineText("connect-devices", {
  title: "Connect your devices",
  lead: "Larder has no app of its own. It works with the Nextcloud and ownCloud desktop clients, the Nextcloud app on Android, and any program that supports WebDAV.",
  kinds: "What to connect",
  families: "App or program",
  kind: (kind: keyof typeof KINDS) => KINDS[kind],
  family: (family: FamilyName) => NAMES[family],
  familyHint: (family: FamilyName) => HINTS[family],
  shortName: (family: FamilyName) => SHORT_NAMES[family],
  step: (family: FamilyName, index: number) => STEPS[family][index] ?? "",
  setUp: (family: string) => `Set up: ${family}`,
  serverAddress: "Server address",
  address: "Address",
  username: "User name",
  command: "Command",
  commandHint: "It contains the app password.",
  localAddress:
    "This address works only on this computer. A phone or another computer can't reach it. Open Larder at its network address, or ask your administrator to set a public address.",
  plainHttp:
    "This address uses HTTP, so the password is sent unencrypted, and Windows rejects it. Ask your administrator to set up HTTPS.",

  newPassword: "Create app password",
  newPasswordLead: "A password for one program. It does not open your account, and you can end it at any time.",
  name: "Name",
  nameHint: "Helps you recognize it, for example “Ada's phone”.",
  create: "Create",
  created: "Your new app password",
  createdLead: "It is shown only now. Enter it in the program before you close this window. The steps are below.",
  password: "App password",
  scanNextcloud: "QR code that signs the Nextcloud app in. The address, user name, and password are above as text.",
  scanAddress: "QR code of the address, which is above as text.",
  scanHint: "Scan it in the Nextcloud app. It contains the password.",
  scanAddressHint: "Scan it with the phone's camera to copy the address. It does not contain the password.",

  passwords: "App passwords",
  accessByPassword: (access: string) => `App password · ${access}`,
  passwordsLead: "Each works for one program, and only for files. Your own password does not work in these programs.",
  noPasswords: "No app passwords yet",
  noPasswordsLead: "Create one for each program that you connect.",
  access: (access: string) => (access === "read" ? "Read-only" : "Read and change"),
  allFiles: "all files",
  onlyFolder: (folder: string) => `only ${folder}`,
  createdAt: (date: string) => `Created ${date}`,
  expiredAt: (date: string) => `Expired ${date}`,
  lastUsed: (when: string, program: string, address: string) =>
    ["Last used", when, program !== "" && `by ${program}`, address !== "" && `from ${address}`]
      .filter(Boolean)
      .join(" "),
  folderGone: "its folder was deleted, so it does not work",
  end: (name: string) => `End app password “${name}”`,
  endTitle: (name: string) => `End app password “${name}”?`,
  endLead: "The program that uses it loses access immediately. Files that it uploaded stay.",
  endAction: "End access",
  endAccessOf: (name: string) => `End access of ${name}`,
  ended: "App password ended.",

  locks: "Files locked by programs",
  locksLead: "While a program has a file open, it can lock the file. Nobody else can change it then.",
  noLocks: "No file is locked.",
  unknownProgram: "A program",
  locked: (program: string, since: string, expires: string) => `${program} · locked ${since} · expires ${expires}`,
  endLock: "End lock",
  endLockOf: (name: string) => `End lock of ${name}`,
  endLockTitle: (name: string) => `End the lock of “${name}”?`,
  endLockLead: "If a program is still editing the file, it may not be able to save. Close the file there first.",
  lockEnded: "Lock ended.",
});
