// The web client's types of the API's records are generated. After a change of the API, the client must not be checked
// against the old types.
import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { clientTypes } from "../../../scripts/client-types.ts";
import { openApiDocument } from "../../../src/server/http/docs.ts";

const file = resolve(import.meta.dir, "../../../src/client/api/generated.ts");

test("the client's types are those of the OpenAPI document (else run: bun scripts/client-types.ts)", async () => {
  expect(await Bun.file(file).text()).toBe(clientTypes(await openApiDocument()));
});

test("a schema is converted to its type", () => {
  const record = {
    type: "object",
    required: ["id", "size"],
    properties: {
      id: { type: "string" },
      size: { type: "integer", nullable: true },
      kinds: { type: "array", items: { enum: ["a", "b"], type: "string" } },
      of: { anyOf: [{ $ref: "#/components/schemas/Id" }, { type: "boolean" }] },
    },
  };
  const types = clientTypes({ components: { schemas: { File: record } }, paths: {} });
  expect(types).toContain("  readonly File: {\n    readonly id: string;\n    readonly size: number | null;\n");
  expect(types).toContain('    readonly kinds?: readonly ("a" | "b")[];\n');
  expect(types).toContain('    readonly of?: Schemas["Id"] | boolean;\n');
});
