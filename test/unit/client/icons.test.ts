import { join } from "node:path";
import { expect, test } from "bun:test";
import * as shared from "../../../src/client/ui/icons.ts";

const CLIENT = join(import.meta.dir, "../../../src/client");

// Imported from both, an icon would be a separate script again in each first load.
test("icons that pages share come from ui/icons.ts alone", async () => {
  const strays: string[] = [];
  let count = 0;
  for (const path of new Bun.Glob("**/*.{ts,tsx}").scanSync(CLIENT)) {
    if (path === "ui/icons.ts") continue;
    const source = await Bun.file(join(CLIENT, path)).text();
    const [, names = ""] = /import \{([^}]*)\} from "lucide-react"/.exec(source) ?? [];
    for (const part of names.split(",")) {
      const name =
        part
          .trim()
          .replace(/^type /, "")
          .split(" as ")[0] ?? "";
      if (name === "") continue;
      count += 1;
      if (name in shared) strays.push(`${path}: ${name}`);
    }
  }
  expect(count).toBeGreaterThan(20);
  expect(strays).toEqual([]);
});
