/** Finds the messages of errors in the source: what is written with `say` of `src/translations/say.ts`. */
import { join } from "node:path";
import { Glob } from "bun";
import { parseAst } from "rollup/parseAst";
import { joinTemplate, type PluralForms, pluralPlaceholder, sizePlaceholder } from "../../src/translations/say.ts";

const ROOT = join(import.meta.dir, "../..");
const SAY = "translations/say.ts";

/** What {@link findMessages} found. */
export interface FoundMessages {
  /** The templates of the messages, in alphabetical order. */
  readonly templates: readonly string[];
  /** Uses of `say.ts` that hide a message from this search. */
  readonly problems: readonly string[];
  /** The files that make messages of other texts, which have no translation of their own. */
  readonly untranslated: readonly string[];
}

/** A node of a syntax tree (ESTree). */
interface SyntaxNode {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Searches all files of the server. */
export async function findMessages(): Promise<FoundMessages> {
  const templates = new Set<string>();
  const problems: string[] = [];
  const untranslated: string[] = [];
  for await (const path of new Glob("src/**/*.ts").scan(ROOT)) {
    const source = await Bun.file(join(ROOT, path)).text();
    if (!source.includes(SAY) || path.endsWith(SAY)) continue;
    const found = findMessagesIn(source);
    for (const template of found.templates) templates.add(template);
    problems.push(...found.problems.map((problem) => `${path}: ${problem}`));
    if (found.untranslated.length > 0) untranslated.push(path);
  }
  return { templates: [...templates].toSorted(), problems, untranslated: untranslated.toSorted() };
}

/** Searches one file. `untranslated` has the names of the functions. */
export function findMessagesIn(source: string): FoundMessages {
  // The parser reads only JavaScript.
  const script = new Bun.Transpiler({ loader: "ts", deadCodeElimination: false }).transformSync(source);
  const search = new Search();
  search.visit(parseAst(script) as unknown as SyntaxNode);
  return search;
}

/** Functions of `say.ts` whose calls are part of a message. */
const IN_MESSAGES = new Set(["size", "plural", "anyOf"]);
const UNTRANSLATED = new Set(["sayText", "sayStored"]);

class Search implements FoundMessages {
  readonly templates: string[] = [];
  readonly problems: string[] = [];
  readonly untranslated: string[] = [];
  /** Names that are imported from `say.ts`. */
  readonly #imported = new Set<string>();

  visit(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.visit(item);
    else if (isNode(value)) this.#visitNode(value);
  }

  #visitNode(node: SyntaxNode): void {
    if (node.type === "ImportDeclaration") this.#noteImports(node);
    else if (node.type === "TaggedTemplateExpression" && isNamed(node["tag"], "say")) this.#addMessage(node);
    else if (node.type === "Property" && node["computed"] !== true) this.visit(node["value"]);
    else if (node.type === "MemberExpression" && node["computed"] !== true) this.visit(node["object"]);
    else if (node.type === "CallExpression" && UNTRANSLATED.has(nameOf(node["callee"]))) {
      this.untranslated.push(nameOf(node["callee"]));
      this.visit(node["arguments"]);
    } else if (node.type === "Identifier" && this.#imported.has(nameOf(node))) {
      this.problems.push(`${nameOf(node)} is used outside of a message`);
    } else for (const child of Object.values(node)) this.visit(child);
  }

  #noteImports({ source, specifiers }: SyntaxNode): void {
    if (!isNode(source) || !String(source["value"]).endsWith(SAY) || !Array.isArray(specifiers)) return;
    for (const { imported, local } of specifiers as SyntaxNode[]) {
      const name = nameOf(imported);
      if (name !== nameOf(local)) this.problems.push(`${name} is imported under another name`);
      this.#imported.add(name);
    }
  }

  #addMessage({ quasi }: SyntaxNode): void {
    const { quasis, expressions } = quasi as { quasis: SyntaxNode[]; expressions: SyntaxNode[] } & SyntaxNode;
    const parts = quasis.map(({ value }) => (value as { cooked: string }).cooked);
    const placeholders = expressions.map((expression, index) => this.#placeholder(expression, `${index}`));
    this.templates.push(joinTemplate(parts, placeholders));
  }

  #placeholder(expression: SyntaxNode, name: string): string {
    const callee = expression.type === "CallExpression" ? nameOf(expression["callee"]) : "";
    if (!IN_MESSAGES.has(callee) || !this.#imported.has(callee)) {
      this.visit(expression);
      return `{${name}}`;
    }
    const [value, options] = expression["arguments"] as SyntaxNode[];
    this.visit(value);
    if (callee === "size") return sizePlaceholder(name);
    return callee === "plural" ? pluralPlaceholder(name, this.#readForms(options)) : `{${name}}`;
  }

  /** Reads an object of texts. */
  #readForms(options: SyntaxNode | undefined): PluralForms {
    const properties = options?.type === "ObjectExpression" ? (options["properties"] as SyntaxNode[]) : [];
    const forms = Object.fromEntries(
      properties.map(({ key, value }) => [nameOf(key), isNode(value) ? value["value"] : undefined]),
    );
    const { one, other } = forms;
    if (typeof one === "string" && typeof other === "string") return { one, other };
    this.problems.push("the forms of a plural are no texts");
    return { one: "", other: "" };
  }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value;
}

function isNamed(value: unknown, name: string): boolean {
  return nameOf(value) === name;
}

function nameOf(value: unknown): string {
  return isNode(value) && value.type === "Identifier" ? String(value["name"]) : "";
}
