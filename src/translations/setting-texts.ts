/** The help texts of the settings in all languages. English ones are in `src/config/settings/`. */
import de from "./de/settings.json" with { type: "text" };
import es from "./es/settings.json" with { type: "text" };
import fr from "./fr/settings.json" with { type: "text" };
import it from "./it/settings.json" with { type: "text" };
import ja from "./ja/settings.json" with { type: "text" };
import nl from "./nl/settings.json" with { type: "text" };
import pl from "./pl/settings.json" with { type: "text" };
import pt from "./pt/settings.json" with { type: "text" };

/**
 * The translations by language, as JSON: parsing waits until somebody reads the language. They are strings, but the
 * compiler takes them for what they contain.
 */
const FILES: Readonly<Record<string, unknown>> = { de, es, fr, it, ja, nl, pl, pt };

/** The help texts of one language, by the key of the setting. */
type HelpTexts = ReadonlyMap<string, string>;

const NONE: HelpTexts = new Map();
const tables = new Map<string, HelpTexts>();

/** Returns the help texts of the settings in a language, by its tag. A setting without a translation is not in it. */
export function settingHelpIn(language: string): HelpTexts {
  if (!Object.hasOwn(FILES, language)) return NONE;
  let table = tables.get(language);
  if (table === undefined) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file of the program, checked by a test
    table = new Map(Object.entries(JSON.parse(String(FILES[language])) as Record<string, string>));
    tables.set(language, table);
  }
  return table;
}
