/**
 * Makes the OpenAPI document small: repeated parts become components that operations refer to.
 */
import { invariant } from "../../lib/invariant.ts";
import { asArray } from "./openapi-dialect.ts";

type Json = Readonly<Record<string, unknown>>;

/** Parts that occur at least this often become components. A part that occurs once is easier to read inline. */
const USES_MIN = 2;

/** Response and parameter components, by name. */
interface SharedComponents {
  readonly responses: Map<string, unknown>;
  readonly parameters: Map<string, unknown>;
}

/**
 * Replaces each of these schemas with a reference to a component.
 * @param document has the schemas of the routes, before {@link toOpenApi}
 * @param named the records of the API by name
 * @throws if two names belong to the same schema
 */
export function nameSchemas(document: Json, named: Json): Json {
  const names = new Map(Object.entries(named).map(([name, schema]) => [canonical(schema), name]));
  invariant(names.size === Object.keys(named).length, "no two named schemas of the API are equal");
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== "object" || value === null) return value;
    const name = names.get(canonical(value));
    return name === undefined ? replaceBelow(value) : referTo(`schemas/${name}`);
  };
  const replaceBelow = (value: unknown): Json =>
    Object.fromEntries(Object.entries(objectOf(value)).map(([key, entry]) => [key, replace(entry)]));
  const components = objectOf(document["components"]);
  const schemas = { ...objectOf(components["schemas"]), ...named };
  return {
    ...replaceBelow(document),
    components: {
      ...components,
      schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, replaceBelow(schema)])),
    },
  };
}

/**
 * Moves repeated responses and parameters to components. A response is named by its status and schema (`201.Share`), a
 * parameter by its own name.
 *
 * @param document an OpenAPI 3.0 document without such components
 */
export function shareComponents(document: Json): Json {
  const shared: SharedComponents = { responses: new Map(), parameters: new Map() };
  const uses = countUses(document["paths"]);
  const components = objectOf(document["components"]);
  const paths = mapOperations(document["paths"], (operation) => ({
    ...operation,
    ...("parameters" in operation && {
      parameters: asArray(operation["parameters"]).map((one) => shareParameter(objectOf(one), uses, shared)),
    }),
    responses: Object.fromEntries(
      Object.entries(objectOf(operation["responses"])).map(([status, response]) => [
        status,
        shareResponse(status, objectOf(response), uses, shared),
      ]),
    ),
  }));
  return {
    ...document,
    paths,
    components: {
      ...components,
      responses: { ...referredTo(paths, objectOf(components["responses"])), ...sorted(shared.responses) },
      parameters: sorted(shared.parameters),
    },
  };
}

/** The responses that operations refer to. */
function referredTo(paths: Json, responses: Json): Json {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(responses).filter(([name]) => text.includes(`"#/components/responses/${name}"`)),
  );
}

function referTo(target: string): Json {
  return { $ref: `#/components/${target}` };
}

/** The text of a JSON value with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === "object" && entry !== null && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).sort(([one], [other]) => (one < other ? -1 : 1)))
      : entry,
  );
}

function shareParameter(parameter: Json, uses: ReadonlyMap<string, number>, shared: SharedComponents): Json {
  const name = String(parameter["name"]);
  const text = JSON.stringify(parameter);
  if ((uses.get(text) ?? 0) < USES_MIN) return parameter;
  // Parameters with the same name may differ: the second is `id.2`.
  for (let number = 1; ; number++) {
    const key = number === 1 ? name : `${name}.${number}`;
    const known = shared.parameters.get(key);
    if (known !== undefined && JSON.stringify(known) !== text) continue;
    shared.parameters.set(key, parameter);
    return referTo(`parameters/${key}`);
  }
}

function shareResponse(
  status: string,
  response: Json,
  uses: ReadonlyMap<string, number>,
  shared: SharedComponents,
): Json {
  const name = nameOf(status, response);
  if (name === undefined) return response;
  const text = JSON.stringify(response);
  if ((uses.get(text) ?? 0) < USES_MIN) return response;
  const known = shared.responses.get(name);
  if (known !== undefined && JSON.stringify(known) !== text) return response;
  shared.responses.set(name, response);
  return referTo(`responses/${name}`);
}

/** The name of a response, from the schema or the only field of its data; undefined if it has neither. */
function nameOf(status: string, response: Json): string | undefined {
  if ("$ref" in response) return undefined;
  if (response["content"] === undefined) return `${status}.empty`;
  const content = objectOf(response["content"]);
  if (Object.keys(content).join() === "application/octet-stream") return `${status}.bytes`;
  const schema = objectOf(objectOf(content["application/json"])["schema"]);
  const [, own] = asArray(schema["allOf"]);
  const data = objectOf(objectOf(objectOf(own)["properties"])["data"]);
  const target = schema["$ref"] ?? data["$ref"];
  if (typeof target === "string") return `${status}.${target.slice(target.lastIndexOf("/") + 1)}`;
  const [field, ...others] = Object.keys(objectOf(data["properties"]));
  // A list in an object: `200.sessions`.
  if (field !== undefined && others.length === 0) return `${status}.${field}`;
  return Object.keys(data).length === 1 && data["type"] === "object" ? `${status}.done` : undefined;
}

/** How often each parameter and each response occurs, by its text. */
function countUses(paths: unknown): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const add = (value: unknown) => {
    const text = JSON.stringify(value);
    uses.set(text, (uses.get(text) ?? 0) + 1);
  };
  mapOperations(paths, (operation) => {
    asArray(operation["parameters"]).forEach(add);
    Object.values(objectOf(operation["responses"])).forEach(add);
    return operation;
  });
  return uses;
}

function mapOperations(paths: unknown, change: (operation: Json) => Json): Json {
  return Object.fromEntries(
    Object.entries(objectOf(paths)).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(objectOf(item)).map(([method, one]) => [method, change(objectOf(one))])),
    ]),
  );
}

function sorted(named: ReadonlyMap<string, unknown>): Json {
  return Object.fromEntries([...named].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
