import { TreeReader } from "./reader.ts";
import type { NaturalKeys } from "./tables/natural-keys.ts";
import { TreeStore, type TreeOptions } from "./tables/store.ts";
import { TreeWriter } from "./writer.ts";

/** The tree of one database: its reading and writing sides, which share their caches. */
interface Tree {
  readonly reader: TreeReader;
  readonly writer: TreeWriter;
  readonly naturalKeys: NaturalKeys;
}

/** Builds both sides; some forty statements are prepared, nothing is read. */
export function openTree(options: TreeOptions): Tree {
  const store = new TreeStore(options);
  return { reader: new TreeReader(store), writer: new TreeWriter(store), naturalKeys: store.naturalKeys };
}
