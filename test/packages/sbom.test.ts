import { expect, test } from "bun:test";
import { makeSbom } from "../../scripts/sbom.ts";
import { repositoryRoot } from "../support/server.ts";

const options = {
  root: repositoryRoot,
  version: "9.9.9",
  commit: "abc",
  timestamp: "2026-01-02T03:04:05Z",
  bunVersion: "1.4.5",
  natives: ["@img/sharp-linux-arm64", "@img/sharp-libvips-linux-arm64"],
};

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly group?: string;
  readonly licenses?: unknown;
}

function listComponents(): readonly Component[] {
  const { components } = makeSbom(options);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests below check these fields
  return components as Component[];
}

test("the list has every runtime dependency once, and no build or test dependencies", () => {
  const refs = listComponents().map((one) => one["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
  for (const name of ["elysia", "sharp", "drizzle-orm", "bun"]) expect(refs.join(" ")).toContain(`/${name}@`);
  for (const name of ["typescript", "oxlint", "playwright-core"]) expect(refs.join(" ")).not.toContain(`/${name}@`);
});

test("native libraries are only those of the target, and every component has a license", () => {
  const natives = listComponents().flatMap(({ group, name }) =>
    group === "@img" && name.startsWith("sharp-") ? [name] : [],
  );
  expect(natives.toSorted()).toEqual(["sharp-libvips-linux-arm64", "sharp-linux-arm64"]);
  expect(listComponents().filter(({ licenses }) => licenses === undefined)).toEqual([]);
});

test("both ends of every dependency are listed", () => {
  const refs = new Set([`pkg:generic/larder@${options.version}`, ...listComponents().map((one) => one["bom-ref"])]);
  const { dependencies } = makeSbom(options);
  const references = JSON.stringify(dependencies).match(/pkg:[^"]+/g) ?? [];
  expect(references.filter((ref) => !refs.has(ref))).toEqual([]);
});

test("the same sources produce the same list", () => {
  expect(makeSbom(options)).toEqual(makeSbom(options));
});
