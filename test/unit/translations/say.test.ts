import { describe, expect, test } from "bun:test";
import { findMessagesIn } from "../../../scripts/texts/errors.ts";
import { translateMessage } from "../../../src/translations/error-texts.ts";
import { anyOf, type Message, plural, say, sayStored, sayText, size } from "../../../src/translations/say.ts";

const german = (message: Message) => translateMessage(message, "de");

const folder = (n: number) =>
  say`The folder contains ${plural(n, { one: "# item", other: "# items" })}. Empty it first, or add ?recursive=true to delete everything.`;

const limit = say`This would exceed your storage limit of ${size(1536 * 1024)}. Delete files, or ask your administrator for more storage.`;

describe("a message", () => {
  test("has its English text and a template", () => {
    const message = say`"${"a.txt"}" is a file. Choose a folder.`;
    expect(message.english).toBe('"a.txt" is a file. Choose a folder.');
    expect(message.template).toBe('"{0}" is a file. Choose a folder.');
  });

  test("has its values in the translation", () => {
    expect(german(say`"${"{0} #"}" is a file. Choose a folder.`)).toBe("„{0} #“ ist eine Datei. Wähle einen Ordner.");
  });

  test("has the forms of plurals", () => {
    expect([folder(1).english, folder(2000).english].map((text) => text.split(".")[0])).toEqual([
      "The folder contains 1 item",
      "The folder contains 2000 items",
    ]);
    expect([german(folder(1)), german(folder(2000))].map((text) => text.split(". ")[0])).toEqual([
      "Der Ordner enthält 1 Element",
      "Der Ordner enthält 2.000 Elemente",
    ]);
  });

  test("has sizes in bytes in English, and as the language writes them in translations", () => {
    expect(limit.english).toContain("limit of 1572864 bytes.");
    expect(german(limit)).toContain("Speicherlimit von 1,5 MB überschreiten.");
  });

  test("has alternatives as the language writes them", () => {
    const message = say`${"PUT"} is not supported at this address. Use ${anyOf(["GET", "POST"])}.`;
    expect(message.english).toBe("PUT is not supported at this address. Use GET or POST.");
    expect(german(message)).toBe("PUT wird an dieser Adresse nicht unterstützt. Verwende GET oder POST.");
  });

  test("can contain another message", () => {
    const message = say`${say`The folder was not found.`} Check the ID, or reload the list.`;
    expect(message.english).toBe("The folder was not found. Check the ID, or reload the list.");
    expect(german(message)).toBe("Der Ordner wurde nicht gefunden. Prüfe die ID, oder lade die Liste neu.");
  });

  test("is in English without a translation", () => {
    expect(german(say`No such text ${1}.`)).toBe("No such text 1.");
    expect(translateMessage(say`The folder was not found.`, "xx")).toBe("The folder was not found.");
  });

  test("can be stored", () => {
    for (const message of [
      folder(3),
      limit,
      say`${say`The folder was not found.`} Check the ID, or reload the list.`,
    ]) {
      const stored = sayStored(JSON.parse(JSON.stringify(message.stored())));
      expect(stored.english).toBe(message.english);
      expect(german(stored)).toBe(german(message));
    }
  });

  test("that is only known as text is translated if a message has the same text", () => {
    expect(german(sayText("The folder was not found."))).toBe("Der Ordner wurde nicht gefunden.");
    expect(german(sayText('"a" is a file. Choose a folder.'))).toBe('"a" is a file. Choose a folder.');
  });
});

const IMPORT = 'import { plural, say, sayText, size } from "../translations/say.ts";\n';

describe("the search for messages", () => {
  test("finds them with the placeholders that they have when they run", () => {
    const source = `${IMPORT}const say1 = (a: string, n: number) => a === "" ? say\`A \\\`b\\\` "c"\` : say\`\${a as string} has \${plural(n, { one: "# d", other: "# e" })}, \${size(n)}, \${say\`or \${n}\`}.\`;`;
    expect(findMessagesIn(source).templates).toEqual([
      'A `b` "c"',
      "or {0}",
      "{0} has {1, plural, one {# d} other {# e}}, {2, number, bytes}, {3}.",
    ]);
    expect(findMessagesIn(source).problems).toEqual([]);
  });

  test.each([
    ["const left = size(1); export const m = say`It has ${left}.`;", "size is used outside of a message"],
    ["const other = say; export const m = other`It is missing.`;", "say is used outside of a message"],
    [
      "const of = { one: '', other: '' }; export const m = say`${plural(1, of)}`;",
      "the forms of a plural are no texts",
    ],
    ["export const m = (e: { size: number }) => say`It has ${e.size}.`;", undefined],
  ])("%s", (source, problem) => {
    expect(findMessagesIn(IMPORT + source).problems).toEqual(problem === undefined ? [] : [problem]);
  });

  test("names what makes messages of other texts", () => {
    expect(findMessagesIn(`${IMPORT}export const m = sayText("It is missing.");`).untranslated).toEqual(["sayText"]);
  });
});
