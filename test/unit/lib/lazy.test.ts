import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lazy } from "../../../src/lib/lazy.ts";

test("a value is made once, at the first call", () => {
  let made = 0;
  const get = lazy(() => ({ number: ++made }));
  expect(made).toBe(0);
  const first = get();
  expect(get()).toBe(first);
  expect(made).toBe(1);
});

test("a failure is not kept: the next call tries again, and its result stays", async () => {
  let tries = 0;
  const load = lazy(async () => {
    if (++tries < 3) throw new Error(`try ${tries}`);
    return tries;
  });
  const both = [load(), load()];
  for (const one of both) expect(await one.catch(String)).toBe("Error: try 1");
  expect(await load().catch(String)).toBe("Error: try 2");
  expect(await load()).toBe(3);
  expect(await load()).toBe(3);
});

test("a function that throws is called again", () => {
  let tries = 0;
  const get = lazy(() => {
    if (++tries === 1) throw new Error("not yet");
    return tries;
  });
  expect(get).toThrow("not yet");
  expect(get()).toBe(2);
});

test("a module that could not be loaded is loaded later", async () => {
  const path = join(tmpdir(), `larder-lazy-${crypto.randomUUID()}.ts`);
  const load = lazy(() => import(path));
  try {
    expect(await load().then(Object.keys, () => "missing")).toBe("missing");
    await Bun.write(path, "export const value = 1;");
    expect(await load()).toMatchObject({ value: 1 });
  } finally {
    await rm(path, { force: true });
  }
});
