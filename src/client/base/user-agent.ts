/** Reads the browser or other program, and the operating system, from a `User-Agent` header. */
import { defineText } from "./text.ts";

const text = defineText("user-agent", {
  unknown: "Unknown program",
  on: "{program} on {system}",
});

const PROGRAMS: readonly (readonly [RegExp, string])[] = [
  [/\bmirall\/.*Nextcloud/i, "Nextcloud desktop client"],
  [/\bmirall\//, "ownCloud desktop client"],
  [/\bNextcloud-android\//i, "Nextcloud app"],
  [/\bNextcloud-iOS\//i, "Nextcloud app"],
  [/\bownCloud-android\//i, "ownCloud app"],
  [/^rclone\//, "rclone"],
  [/^WebDAVFS\//, "Finder"],
  [/^Microsoft-WebDAV-MiniRedir\//, "Windows Explorer"],
  [/^gvfs\//, "GNOME Files"],
  [/^davfs2\//, "davfs2"],
  [/^cadaver\//, "cadaver"],
  [/\bPhotoSync\b/, "PhotoSync"],
  [/\bFolderSync\b/, "FolderSync"],
  [/\bJoplin\b/, "Joplin"],
  [/\bDAVx5\b/, "DAVx⁵"],
  [/\bKIO\//, "KDE"],
  [/\bVLC\//, "VLC"],
  [/\bKodi\//, "Kodi"],
  [/^Infuse\b/, "Infuse"],
  [/^Duplicati\b/, "Duplicati"],
  // These contain the name of a browser too.
  [/\bobsidian\//i, "Obsidian"],
  [/\bZotero\//, "Zotero"],
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|HeadlessChrome|Chromium)\//, "Chrome"],
  [/\bVersion\/.*Safari\//, "Safari"],
  [/\bcurl\//, "curl"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/CrOS/, "ChromeOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Linux/, "Linux"],
];

/** "Firefox on Linux"; the text for unknown programs if no part is known. */
export function agentName(userAgent: string | null): string {
  return findAgentName(userAgent) ?? text.unknown;
}

/** "Firefox on Linux"; unknown parts are left out. Undefined if no part is known. */
export function findAgentName(userAgent: string | null): string | undefined {
  const find = (known: readonly (readonly [RegExp, string])[]) =>
    known.find(([pattern]) => pattern.test(userAgent ?? ""))?.[1];
  const program = find(PROGRAMS);
  const system = find(SYSTEMS);
  if (program === undefined || system === undefined) return program ?? system;
  return text.on({ program, system });
}
