/** Converts the JSON Schema of the routes to the dialect of OpenAPI 3.0.3. */

type Json = Readonly<Record<string, unknown>>;

/**
 * Converts a generated document to OpenAPI 3.0.3:
 * - `const`, `null`, and `patternProperties` become `enum`, `nullable`, and `additionalProperties`.
 * - Removes all siblings of `$ref`.
 * - Bodies are JSON only. The generator also offers forms and text.
 * - Removes `additionalProperties: false`: the server ignores unknown fields.
 * - Removes the slash at the end of paths.
 */
export function toOpenApi(document: unknown): Json {
  const converted = convert(document);
  return isObject(converted) ? converted : {};
}

function convert(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((entry) => convert(entry));
  if (!isObject(value)) return value;
  // Keys below `properties` or `paths` are names of the API: there `const` or `anyOf` is no keyword.
  if (key === "properties" || key === "paths") {
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [
        key === "paths" && name.length > 1 && name.endsWith("/") ? name.slice(0, -1) : name,
        convert(entry),
      ]),
    );
  }
  if (Array.isArray(value["anyOf"])) return convertUnion(value, value["anyOf"]);
  const entries = Object.entries(value).flatMap(([name, entry]): [string, unknown][] => {
    if (name === "$id" || (name === "additionalProperties" && entry === false)) return [];
    if (name === "parameters" && Array.isArray(entry) && entry.length === 0) return [];
    if (name === "examples" && Array.isArray(entry))
      return value["format"] === "date-time" ? [] : [["example", entry[0]]];
    if (name === "const") return [["enum", [entry]]];
    if (name === "patternProperties") return [["additionalProperties", convert(Object.values(entry ?? {})[0])]];
    if (key === "content" && (name === "multipart/form-data" || name === "text/plain") && "application/json" in value) {
      return [];
    }
    return [[name, convert(entry, name)]];
  });
  const { $ref, ...rest } = Object.fromEntries(entries);
  if ($ref === undefined) return rest;
  return Object.keys(rest).length === 0 ? { $ref } : { ...rest, allOf: [{ $ref }] };
}

/** Converts `anyOf [X, null]` to a nullable X, and `anyOf` of constants of one type to an `enum`. */
function convertUnion(union: Json, options: readonly unknown[]): Json {
  const { anyOf: _, ...beside } = union;
  const some = options.filter((option) => !isNull(option)).map((option) => convert(option));
  const isNullable = some.length < options.length;
  const merged = mergeEnums(some);
  const [only, ...others] = merged;
  const rest = objectOf(convert(beside));
  if (others.length === 0) {
    return { ...(isNullable ? asNullable(objectOf(only)) : withoutSiblings(objectOf(only), rest)), ...rest };
  }
  if (!isNullable) return { ...rest, anyOf: merged };
  // One nullable option is enough. `nullable` needs a `type` next to it.
  const typed = merged.findIndex((option) => objectOf(option)["type"] !== undefined);
  const at = Math.max(typed, 0);
  return { ...rest, anyOf: merged.map((option, index) => (index === at ? asNullable(objectOf(option)) : option)) };
}

function withoutSiblings(schema: Json, beside: Json): Json {
  return "$ref" in schema && Object.keys(beside).length > 0 ? { allOf: [schema] } : schema;
}

function asNullable(schema: Json): Json {
  // `nullable` needs a `type` next to it, and `allOf` would require null to match the reference.
  if ("$ref" in schema) return { anyOf: [schema, { type: "object", nullable: true, enum: [null] }] };
  return { ...schema, nullable: true, ...(Array.isArray(schema["enum"]) && { enum: [...schema["enum"], null] }) };
}

/** Merges options that are constants of one type. */
function mergeEnums(options: readonly unknown[]): readonly unknown[] {
  const merged: Json[] = [];
  for (const option of options.map(objectOf)) {
    const last = merged.findIndex((one) => isPlainEnum(one) && isPlainEnum(option) && one["type"] === option["type"]);
    const into = merged[last];
    if (into === undefined) merged.push(option);
    else merged[last] = { ...into, enum: [...asArray(into["enum"]), ...asArray(option["enum"])] };
  }
  return merged;
}

function isPlainEnum(schema: Json): boolean {
  return Object.keys(schema).length === 2 && "enum" in schema && "type" in schema;
}

function isNull(option: unknown): boolean {
  return isObject(option) && option["type"] === "null";
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** The value if it is an array, else an empty one. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
