import { expect, test } from "bun:test";
import { Glob } from "bun";
import { dirname, join, relative, resolve } from "node:path";

const SRC = resolve(import.meta.dir, "../../src");
/** Rings from the outside in; a file imports from its own ring or from those after it. */
const RINGS = [
  ["cli", "main.ts"],
  ["server"],
  ["web"],
  ["features"],
  ["tree"],
  ["http", "db", "blobs", "events", "net", "jobs", "config"],
  ["lib", "errors.ts", "version.ts"],
  ["translations"],
];
/** The wings of `features/`, the lowest first; a wing imports from itself and from those before it. */
const WINGS = [
  "media",
  "accounts",
  "library",
  "sharing",
  "uploads",
  "storage",
  "messaging",
  "mobile",
  "clients",
  "administration",
];
/** The parts of folders that have some, the lowest first. Files next to the parts may import all of them. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  tree: ["model", "tables", "operations", "journal", "queries"],
  server: ["data", "net", "observability", "composition", "standby", "http"],
  client: ["base", "translations", "public", "api", "ui", "entries", "features", "app"],
};
/** Features of the client that other features may import. */
const SHARED_PAGE_FEATURES = ["uploads"];
/** HTTP-side files of a feature; all other files of it are domain. */
const HTTP_SIDE =
  /^(([a-z]+-)*(routes|requests|sender|form)|openapi|router|declaration|model|present|pages|guard|listing|incoming)\.ts$/;

interface Import {
  readonly from: string;
  readonly to: string;
}

async function imports(): Promise<Import[]> {
  const found: Import[] = [];
  for await (const path of new Glob("**/*.{ts,tsx}").scan(SRC)) {
    const source = await Bun.file(join(SRC, path)).text();
    const named = source.matchAll(/^(?:import|export)[^;]*?from "(\.[^"]+)"/gms);
    const loaded = source.matchAll(/\bimport\("(\.[^"]+)"\)/g);
    for (const [, specifier = ""] of [...named, ...loaded]) {
      found.push({ from: path, to: relative(SRC, resolve(SRC, dirname(path), specifier)) });
    }
  }
  return found;
}

function ringOf(path: string): number {
  const top = path.split("/")[0] ?? "";
  return RINGS.findIndex((ring) => ring.includes(top));
}

test("imports point to lower rings only", async () => {
  const upward = (await imports()).filter(({ from, to }) => {
    // Pages are drawn by the router; their texts import nothing of the program.
    if (
      to.startsWith("web/") &&
      /^features\/(sharing\/shares|accounts\/(setup|oidc|password-reset|email-confirmation|invites|welcome))\/((page-)?routes|pages)\.ts$/.test(
        from,
      )
    )
      return false;
    return ringOf(to) !== -1 && ringOf(to) < ringOf(from);
  });
  expect(upward).toEqual([]);
});

test("wings import each other in one direction only", async () => {
  const wings = new Set<string>();
  const upward = (await imports()).filter(({ from, to }) => {
    const [top, wing = ""] = from.split("/");
    const [target, targetWing = ""] = to.split("/");
    if (top !== "features") return false;
    wings.add(wing);
    return target === "features" && WINGS.indexOf(targetWing) > WINGS.indexOf(wing);
  });
  expect(upward).toEqual([]);
  expect([...wings].sort()).toEqual([...WINGS].sort());
});

test("the parts of the tree, the server and the pages import each other in one direction only", async () => {
  const upward = (await imports()).filter(({ from, to }) => {
    const [top = "", part = "", ...rest] = from.split("/");
    const [target, targetPart = ""] = to.split("/");
    const parts = PARTS[top];
    if (parts === undefined || target !== top || rest.length === 0) return false;
    return !parts.includes(targetPart) || parts.indexOf(targetPart) > parts.indexOf(part);
  });
  expect(upward).toEqual([]);
});

test("features of the client import no other feature except uploads", async () => {
  const crossings = (await imports()).filter(({ from, to }) => {
    const [top, part, feature = ""] = from.split("/");
    const [target, targetPart, targetFeature = ""] = to.split("/");
    if (top !== "client" || part !== "features" || target !== "client" || targetPart !== "features") return false;
    return targetFeature !== feature && !SHARED_PAGE_FEATURES.includes(targetFeature);
  });
  expect(crossings).toEqual([]);
});

test("commands do not import each other", async () => {
  const crossings = (await imports()).filter(({ from, to }) => {
    const [top, part, ...rest] = from.split("/");
    const [target, targetPart] = to.split("/");
    if (top !== "cli" || target !== "cli" || rest.length === 0) return false;
    return targetPart !== "shared" && targetPart !== part;
  });
  expect(crossings).toEqual([]);
});

test("imports have no cycles, type imports included", async () => {
  const targets = new Map<string, string[]>();
  for (const { from, to } of await imports()) {
    targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const finished = new Set<string>();
  const circles: string[][] = [];
  const visit = (path: string, way: readonly string[]) => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path]);
    if (way.includes(path) || finished.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...way, path]);
    finished.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  expect(circles).toEqual([]);
});

test("in the middle ring only jobs and events use the database", async () => {
  const middle = RINGS[5] ?? [];
  const sideways = (await imports()).filter(({ from, to }) => {
    const [a = "", b = ""] = [from.split("/")[0], to.split("/")[0]];
    return middle.includes(a) && middle.includes(b) && a !== b && !((a === "jobs" || a === "events") && b === "db");
  });
  expect(sideways).toEqual([]);
});

test("only the router mounts routes, and it requires their declaration", async () => {
  const found: string[] = [];
  for await (const path of new Glob("**/*.ts").scan(SRC)) {
    const source = await Bun.file(join(SRC, path)).text();
    // Hooks shared by routes and the generator of the OpenAPI document are plugins of the framework.
    const isHooks =
      /\/(guard|share-requests|tus-requests)\.ts$|^http\/base\.ts$|^server\/http\/openapi\.ts$|\/auth\/tokens\.ts$/.test(
        path,
      );
    if (source.includes("new Elysia(") && !isHooks) found.push(path);
  }
  expect(found).toEqual(["features/accounts/routing/router.ts"]);
});

test("all upload bytes are received by the same code", async () => {
  const readers = (await imports())
    .filter(({ from, to }) => from.startsWith("features/") && to === "http/request-body.ts")
    .map(({ from }) => from);
  const reading: string[] = [];
  for (const path of new Set(readers)) {
    if (/\breadBody\(/.test(await Bun.file(join(SRC, path)).text())) reading.push(path);
  }
  expect(reading).toEqual(["features/library/files/incoming.ts"]);
});

test("the domain code of a feature does not use HTTP", async () => {
  const leaks = (await imports()).filter(({ from, to }) => {
    const [top, wing, , file = ""] = from.split("/");
    // The clients are HTTP protocols over the other wings, and have no domain of their own.
    return top === "features" && wing !== "clients" && !HTTP_SIDE.test(file) && to.startsWith("http/");
  });
  expect(leaks).toEqual([]);
});

test("browser code and server code do not import each other, and share only translations", async () => {
  const isClient = (path: string) => path.startsWith("client/");
  const crossings = (await imports()).filter(
    ({ from, to }) => isClient(from) !== isClient(to) && !to.startsWith("translations/"),
  );
  expect(crossings).toEqual([]);
});

test("no feature imports another feature's queries", async () => {
  const leaks = (await imports()).filter(({ from, to }) => {
    const isQueries = to.startsWith("features/") && to.endsWith("/queries.ts");
    return isQueries && dirname(from) !== dirname(to);
  });
  expect(leaks).toEqual([]);
});

test("only image processes import sharp, and only the configuration reads the environment", async () => {
  const sharp: string[] = [];
  const environment: string[] = [];
  for await (const path of new Glob("**/*.ts").scan(SRC)) {
    const source = await Bun.file(join(SRC, path)).text();
    if (/from "sharp"|import\("sharp"\)/.test(source) && !/import type/.test(source)) sharp.push(path);
    // The bundler replaces "process.env.X" in quotes in the pages.
    if (/(?<!")process\.env\b/.test(source)) environment.push(path);
  }
  // The two processes that decode pictures.
  expect(sharp.filter((path) => !/^features\/media\/(thumbnails|editing)\//.test(path))).toEqual([]);
  expect(
    environment.filter(
      (path) => !/^((cli|config|server)\/|main\.ts)/.test(path) && !path.startsWith("features/media/thumbnails/"),
    ),
  ).toEqual([]);
});

test("no transaction callback is asynchronous", async () => {
  const found: string[] = [];
  for await (const path of new Glob("**/*.ts").scan(SRC)) {
    const source = await Bun.file(join(SRC, path)).text();
    if (/transaction\(\s*async|writer\.run(Now)?\(\s*async/.test(source)) found.push(path);
  }
  expect(found).toEqual([]);
});
