/** The language of a request. */
import { chooseAvailable } from "../translations/languages.ts";

/** More entries are ignored: a header may be long, and no reader has as many languages. */
const PREFERENCES_MAX = 20;

/**
 * The language to respond in: what the reader chose in the web app, else the first language of the browser that texts
 * are translated to, else English. A response that depends on it needs `Vary: Accept-Language, Cookie` if it is cached.
 */
export function requestLanguage(request: Request): string {
  return chooseAvailable(preferencesOf(request));
}

/** Like {@link requestLanguage}; undefined for a program that states no language. */
export function statedLanguage(request: Request): string | undefined {
  const preferences = preferencesOf(request);
  return preferences.length === 0 ? undefined : chooseAvailable(preferences);
}

/** The languages of the reader, the most preferred first. */
function preferencesOf(request: Request): string[] {
  const chosen = /(?:^|;\s*)larder_language=([A-Za-z0-9-]{2,35})(?:;|$)/.exec(request.headers.get("cookie") ?? "")?.[1];
  const accepted = parseAcceptLanguage(request.headers.get("accept-language") ?? "");
  return chosen === undefined ? accepted : [chosen, ...accepted];
}

/** The tags of an Accept-Language header, the most preferred first (RFC 9110, section 12.5.4). */
export function parseAcceptLanguage(header: string): string[] {
  return header
    .split(",", PREFERENCES_MAX)
    .map((entry) => {
      const [tag = "", ...parameters] = entry.split(";").map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.startsWith("q="));
      return { tag, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ tag, quality }) => tag !== "" && tag !== "*" && quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
}
