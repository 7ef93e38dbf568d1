/** The colors of source code, by the extension of the file's name. */
import { StreamLanguage, type StreamParser } from "@codemirror/language";
import { c, cpp, csharp, java, kotlin } from "@codemirror/legacy-modes/mode/clike";
import { css } from "@codemirror/legacy-modes/mode/css";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { go } from "@codemirror/legacy-modes/mode/go";
import { javascript, json, typescript } from "@codemirror/legacy-modes/mode/javascript";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { python } from "@codemirror/legacy-modes/mode/python";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { html, xml } from "@codemirror/legacy-modes/mode/xml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";

const MODES: readonly (readonly [extensions: string, parser: StreamParser<unknown>])[] = [
  ["js mjs cjs jsx", javascript],
  ["ts mts cts tsx", typescript],
  ["json jsonc geojson", json],
  ["html htm xhtml vue svelte", html],
  ["xml xsl svg gpx kml rss", xml],
  ["css scss less", css],
  ["py", python],
  ["yaml yml", yaml],
  ["toml", toml],
  ["ini cfg conf properties env", properties],
  ["sh bash zsh", shell],
  ["c h", c],
  ["cpp cc hpp", cpp],
  ["java", java],
  ["kt", kotlin],
  ["cs", csharp],
  ["go", go],
  ["rs", rust],
  ["rb", ruby],
  ["diff patch", diff],
  ["dockerfile", dockerFile],
];

/** The language of a file; undefined for plain text. */
export function findMode(fileName: string): StreamLanguage<unknown> | undefined {
  const extension = fileName.slice(fileName.lastIndexOf(".") + 1).toLowerCase();
  const found = MODES.find(([extensions]) => extensions.split(" ").includes(extension));
  return found && StreamLanguage.define(found[1]);
}
