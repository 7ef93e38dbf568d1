/** The software bill of materials of an executable, in CycloneDX 1.6: from bun.lock and its packages. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface SbomOptions {
  readonly root: string;
  readonly version: string;
  readonly commit: string;
  /** The time of the commit, so that the same sources give the same document. */
  readonly timestamp: string;
  readonly bunVersion: string;
  /** Packages with the native libraries of the target. Those of other targets are left out. */
  readonly natives: readonly string[];
}

interface Component {
  readonly type: "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: "SHA-512"; readonly content: string }[];
  readonly licenses?: readonly (
    | { readonly license: { readonly id: string } | { readonly name: string } }
    | { readonly expression: string }
  )[];
}

/** An entry of bun.lock. */
interface LockedPackage {
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly string[];
  readonly integrity: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** Creates the document. Its serial number is a digest of its content. @throws Error if bun.lock has an unknown format */
export function makeSbom(options: SbomOptions): Json {
  const lock = parseLock(readFileSync(join(options.root, "bun.lock"), "utf8"));
  const locked = listRuntimePackages(lock, options.natives);
  const components = [
    ...[...locked.entries()]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, entry]) => componentOf(options.root, key, entry)),
    {
      type: "platform",
      "bom-ref": `pkg:npm/bun@${options.bunVersion}`,
      name: "bun",
      version: options.bunVersion,
      purl: `pkg:npm/bun@${options.bunVersion}`,
      licenses: [{ license: { id: "MIT" } }],
    } satisfies Component,
  ];
  const root = `pkg:generic/larder@${options.version}`;
  const body = {
    metadata: {
      timestamp: options.timestamp,
      component: {
        type: "application",
        "bom-ref": root,
        name: "larder",
        version: options.version,
        purl: root,
        licenses: [{ license: { id: "MIT" } }],
        properties: [{ name: "larder:commit", value: options.commit }],
      },
    },
    components,
    dependencies: [
      {
        ref: root,
        dependsOn: components.filter((one) => lock.direct.includes(fullName(one))).map((one) => one["bom-ref"]),
      },
      ...[...locked.entries()]
        .map(([key, entry]) => ({
          ref: refOf(entry),
          dependsOn: [
            ...new Set(entry.dependencies.flatMap((dependency) => refsOf(lock, locked, key, dependency))),
          ].sort(),
        }))
        .sort((one, other) => (one.ref < other.ref ? -1 : 1)),
    ].filter(isFirst()),
  };
  const hex = createHash("sha256").update(JSON.stringify(body)).digest("hex");
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuid}`,
    version: 1,
    ...body,
  };
}

/** Returns a filter for the first entry of each version: nested copies are one dependency. */
function isFirst(): (entry: { readonly ref: string }) => boolean {
  const seen = new Set<string>();
  return ({ ref }) => {
    if (seen.has(ref)) return false;
    seen.add(ref);
    return true;
  };
}

function fullName({ group, name }: Component): string {
  return group === undefined ? name : `${group}/${name}`;
}

/** bun.lock is JSON with trailing commas. */
function parseLock(text: string): { direct: readonly string[]; packages: ReadonlyMap<string, LockedPackage> } {
  const parsed: unknown = JSON.parse(text.replace(/,(\s*[}\]])/g, "$1"));
  const workspaces = objectOf(objectOf(parsed)["workspaces"]);
  const direct = Object.keys(objectOf(objectOf(workspaces[""])["dependencies"]));
  const packages = new Map<string, LockedPackage>();
  for (const [key, value] of Object.entries(objectOf(objectOf(parsed)["packages"]))) {
    if (!Array.isArray(value) || typeof value[0] !== "string") throw new Error(`bun.lock: ${key} is not as expected.`);
    const at = value[0].lastIndexOf("@");
    const about = objectOf(value[2]);
    packages.set(key, {
      name: value[0].slice(0, at),
      version: value[0].slice(at + 1),
      dependencies: [
        ...Object.keys(objectOf(about["dependencies"])),
        ...Object.keys(objectOf(about["optionalDependencies"])),
      ],
      integrity: typeof value[3] === "string" ? value[3] : undefined,
    });
  }
  return { direct, packages };
}

/**
 * All packages that the program needs at run time, by key. Native libraries are those of one target. pdf.js names a canvas
 * for Node.js, which browsers do not need and the executable does not have.
 */
function listRuntimePackages(
  lock: ReturnType<typeof parseLock>,
  natives: readonly string[],
): Map<string, LockedPackage> {
  const found = new Map<string, LockedPackage>();
  const waiting = lock.direct.map((name) => keyOf(lock, "", name));
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    const entry = lock.packages.get(key);
    if (entry === undefined || found.has(key)) continue;
    if (/^@(img\/sharp-|napi-rs\/canvas)/.test(entry.name) && !natives.includes(entry.name)) continue;
    found.set(key, entry);
    for (const dependency of entry.dependencies) waiting.push(keyOf(lock, key, dependency));
  }
  return found;
}

/** Resolves a name: packages nested below `from` and below its parents come first, then those at the top. */
function keyOf(lock: ReturnType<typeof parseLock>, from: string, name: string): string {
  for (let scope = from; scope !== ""; scope = scope.includes("/") ? scope.slice(0, scope.lastIndexOf("/")) : "") {
    const nested = `${scope}/${name}`;
    if (lock.packages.has(nested)) return nested;
  }
  return name;
}

function refsOf(
  lock: ReturnType<typeof parseLock>,
  found: ReadonlyMap<string, LockedPackage>,
  from: string,
  name: string,
): string[] {
  const entry = found.get(keyOf(lock, from, name));
  return entry === undefined ? [] : [refOf(entry)];
}

function refOf({ name, version }: LockedPackage): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function componentOf(root: string, key: string, entry: LockedPackage): Component {
  const { name, version, integrity } = entry;
  const [group, short] = name.startsWith("@") ? name.split("/") : [undefined, name];
  const licenses = licenseOf(root, key, name);
  return {
    type: "library",
    "bom-ref": refOf(entry),
    ...(group !== undefined && { group }),
    name: short ?? name,
    version,
    purl: refOf(entry),
    ...(integrity?.startsWith("sha512-") === true && {
      hashes: [{ alg: "SHA-512" as const, content: Buffer.from(integrity.slice(7), "base64").toString("hex") }],
    }),
    ...(licenses !== undefined && { licenses }),
  };
}

/** The license in package.json. Packages of other platforms are not installed. */
function licenseOf(root: string, key: string, name: string): Component["licenses"] {
  const nested = key.split("/").reduce<string[]>((parts, part) => {
    const last = parts.at(-1);
    if (last?.startsWith("@") === true && !last.includes("/")) parts[parts.length - 1] = `${last}/${part}`;
    else parts.push(part);
    return parts;
  }, []);
  const paths = [join(root, "node_modules", nested.join("/node_modules/")), join(root, "node_modules", name)];
  const path = paths.map((folder) => join(folder, "package.json")).find((file) => existsSync(file));
  if (path === undefined) return name.startsWith("@img/sharp") ? [sharpLicense(name)] : undefined;
  const license = objectOf(JSON.parse(readFileSync(path, "utf8")))["license"] ?? LICENSES_IN_READMES[name];
  if (typeof license !== "string") return undefined;
  if (/\s(AND|OR|WITH)\s/.test(license)) return [{ expression: license.replace(/^\((.*)\)$/, "$1") }];
  return [{ license: /^[A-Za-z0-9.+-]+$/.test(license) ? { id: license } : { name: license } }];
}

/** Licenses that only the readme of a package states. */
const LICENSES_IN_READMES: Readonly<Record<string, string>> = { "combine-errors": "MIT" };

function sharpLicense(name: string): { license: { id: string } } {
  return { license: { id: name.includes("libvips") ? "LGPL-3.0-or-later" : "Apache-2.0" } };
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
