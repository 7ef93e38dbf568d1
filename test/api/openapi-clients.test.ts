// The OpenAPI document in real tools: independent validators find no error, and a generated client works.
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asObject } from "../support/openapi.ts";
import { repositoryRoot, sharedServer } from "../support/server.ts";

const server = sharedServer();
const tools = join(repositoryRoot, "test/openapi");

/** Runs a program until it exits. @throws with its whole output if its exit code isn't 0 */
async function run(command: string[], cwd = tools): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

async function withDocument(use: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "larder-test-openapi-"));
  try {
    const path = join(folder, "openapi.json");
    await Bun.write(path, await (await fetch(`${server().url}/openapi.json`)).text());
    await use(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("the document is small, and operations share components", async () => {
  const { text, json } = await server().visitor.get("/openapi.json");
  const { openapi, components, servers, info, paths } = asObject(json) ?? {};
  const operations = Object.values(asObject(paths) ?? {}).flatMap((path) => Object.keys(asObject(path) ?? {}));
  expect(operations.length).toBeGreaterThan(200);
  expect(Buffer.byteLength(text) / operations.length).toBeLessThan(1_590);
  expect(openapi).toBe("3.0.3");
  for (const kind of ["schemas", "responses", "parameters", "headers", "securitySchemes"])
    expect({ kind, count: Object.keys(asObject(asObject(components)?.[kind]) ?? {}).length }).not.toEqual({
      kind,
      count: 0,
    });
  expect(servers).toEqual([{ url: "/" }]);
  expect(asObject(info)?.["contact"]).toBeDefined();
});

test("swagger-parser, spectral and redocly find no error", async () => {
  await withDocument(async (path) => {
    const report = await run([join(repositoryRoot, "scripts/check-openapi"), path]);
    expect(report.trim().split("\n")).toEqual([
      "swagger-parser: no errors",
      "spectral: no errors",
      "redocly: no errors",
    ]);
  });
});

test("a generated client compiles with our TypeScript version, and works", async () => {
  await run([process.execPath, "install", "--frozen-lockfile", "--ignore-scripts", "--silent"]);
  const bin = join(tools, "node_modules/.bin");
  await withDocument(async (path) => {
    await run([process.execPath, "--bun", join(bin, "openapi-typescript"), path, "-o", "generated/larder.ts"]);
  });
  await run([process.execPath, "x", "tsc", "--project", tools], repositoryRoot);
  expect(await run([process.execPath, "round-trip.ts", server().url])).toBe("round trip done\n");
});
