// What browsers need to install the application: its manifest and its service worker.
import { directionOf } from "../../translations/choose-language.ts";
import { LANGUAGES } from "../../translations/languages.ts";
import type { PageFrame } from "../pages/page.ts";
import { installTexts } from "../pages/text.ts";
import { firstScripts, PAGE_PREFIXES, THEME_COLORS } from "./app-shell.ts";
import type { ClientFiles } from "./client-files.ts";

/** Larger files are cached when they are first used, except those that every page needs. */
const PRECACHED_BYTES_MAX = 200_000;

/** The web app manifest (W3C), with the share target that phones offer as "Share → Larder". */
export function renderManifest({ basePath, language }: PageFrame, files: ClientFiles): string {
  const text = installTexts(language);
  const icon = (name: string, size: number, purpose: "any" | "maskable") => ({
    src: basePath + files.pathOf(`${name}.png`),
    sizes: `${size}x${size}`,
    type: "image/png",
    purpose,
  });
  const shortcut = (name: string, path: string) => ({ name, url: basePath + path });
  return JSON.stringify({
    id: `${basePath}/`,
    name: "Larder",
    short_name: "Larder",
    description: text.description,
    lang: language,
    dir: directionOf(language),
    start_url: `${basePath}/`,
    scope: `${basePath}/`,
    display: "standalone",
    background_color: THEME_COLORS.light,
    theme_color: THEME_COLORS.light,
    categories: ["productivity", "utilities"],
    icons: [
      icon("icon-192", 192, "any"),
      icon("icon-512", 512, "any"),
      icon("icon-maskable-192", 192, "maskable"),
      icon("icon-maskable-512", 512, "maskable"),
    ],
    shortcuts: [
      shortcut(text.photos, "/photos"),
      shortcut(text.search, "/search"),
      shortcut(text.sharedWithMe, "/shared/with-me"),
    ],
    share_target: {
      action: `${basePath}/share-target`,
      method: "POST",
      enctype: "multipart/form-data",
      params: { title: "title", text: "text", url: "url", files: [{ name: "files", accept: ["*/*"] }] },
    },
  });
}

/** The service worker, with the list of the files of this build, and of the texts only those of the reader's language. */
export async function renderServiceWorker({ basePath, language }: PageFrame, files: ClientFiles): Promise<string> {
  const { manifest } = files;
  const texts = files.textsOf(language);
  const ofOthers = new Set(LANGUAGES.map(({ tag }) => files.textsOf(tag)).filter((path) => path !== texts));
  const small = Object.entries(manifest.files)
    .filter(([, { type, identity }]) => /javascript|css/.test(type) && identity.size <= PRECACHED_BYTES_MAX)
    .map(([name]) => files.pathOf(name))
    .filter((path) => !ofOthers.has(path));
  const program = {
    version: files.version,
    basePath,
    pages: PAGE_PREFIXES,
    files: [
      ...new Set([
        ...firstScripts(files),
        ...files.loadsOf("start.css"),
        ...small,
        ...(texts === undefined ? [] : [texts]),
      ]),
    ],
  };
  // Base paths contain no quotes and we choose the file names, so JSON is valid script here.
  return `const LARDER=${JSON.stringify(program)};\n${await files.open(manifest.worker).text()}`;
}
