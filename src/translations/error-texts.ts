/** The messages of errors in all languages. English ones are in the code: see `say.ts`. */
import de from "./de/errors.json" with { type: "text" };
import es from "./es/errors.json" with { type: "text" };
import fr from "./fr/errors.json" with { type: "text" };
import it from "./it/errors.json" with { type: "text" };
import ja from "./ja/errors.json" with { type: "text" };
import nl from "./nl/errors.json" with { type: "text" };
import pl from "./pl/errors.json" with { type: "text" };
import pt from "./pt/errors.json" with { type: "text" };
import { formatOf } from "./formats.ts";
import { PSEUDO_LANGUAGE } from "./languages.ts";
import { formatMessage } from "./messages.ts";
import { transform } from "./pseudo.ts";
import type { Message, ValueFormat } from "./say.ts";

/**
 * The translations by language, as JSON: parsing waits until somebody reads the language. They are strings, but the
 * compiler takes them for what they contain.
 */
const FILES: Readonly<Record<string, unknown>> = { de, es, fr, it, ja, nl, pl, pt };

type Translate = (message: Message) => string;

const translators = new Map<string, Translate>();

/** Returns a message in a language, by its tag; in English if there is no translation. */
export function translateMessage(message: Message, language: string): string {
  if (language === PSEUDO_LANGUAGE) return transform(message.english);
  if (!Object.hasOwn(FILES, language)) return message.english;
  let translate = translators.get(language);
  if (translate === undefined) {
    translate = createTranslator(language);
    translators.set(language, translate);
  }
  return translate(message);
}

function createTranslator(tag: string): Translate {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file of the program, checked by a test
  const translations = new Map(Object.entries(JSON.parse(String(FILES[tag])) as Record<string, string>));
  const format = formatOf(tag);
  const values: ValueFormat = {
    tag,
    translate: (message) => {
      const translation = translations.get(message.template);
      return translation === undefined ? message.english : formatMessage(translation, message.valuesIn(values), format);
    },
  };
  return values.translate;
}
