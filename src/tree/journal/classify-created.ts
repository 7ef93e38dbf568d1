/**
 * Decides which entries of a page are new to the reader: created rather than updated. A node is new if it was made, or
 * left the trash, after the number that the reader knew when its run began, and if the run has not emitted it before.
 *
 * Whether the run has emitted it before follows from its effective number (see changes.ts):
 * - It is within the journal as it was when the run began: the run cannot have emitted it.
 * - It is later: the node changed during the run. Its earlier journal rows show where it was when the reader passed.
 *
 * An entry that the reader knows is never reported as created. An unknown one is, except in two cases, where it is
 * reported as updated:
 * - It changed again after the run began, and its folder had been renamed or moved before the reader passed it. The
 *   number at which it was in between is not recorded.
 * - The run is very long: its first ranges are merged, or the node's earlier rows lie too far back.
 */
import { IN_TRASH } from "../tables/history.ts";
import type { TreeStore } from "../tables/store.ts";
import type { ChangeEntry, EmittedEntry } from "./entry.ts";
import { type ChangePosition, lastReadSeq, runHeadOf, runStart } from "./position.ts";

/** A node that was made since the run began, and at which number it is emitted now. */
interface ChangedNode {
  readonly createdSeq: number;
  readonly effectiveSeq: number;
}

/** Where a node was at some journal number, and the change by which it left that folder: 0 if it is still there. */
interface FormerParent {
  readonly parentId: number | null;
  readonly leftSeq: number;
}

/** How far back from the journal's head a node's earlier rows are read. */
const EARLIER_ROWS_MAX = 50_000;

/** Classifies the entries of pages. One for all accounts of a database. */
export class CreatedClassifier {
  readonly #ownSeqs;
  readonly #hasReturns;
  readonly #formerParent;
  readonly #createdSeqs;

  constructor({ sqlite }: TreeStore) {
    this.#hasReturns = sqlite.prepare<{ found: number }, [number, number, number]>(
      `SELECT 1 AS found FROM former_places INDEXED BY former_places_folder
       WHERE parent_id = ?1 AND seq > ?2 AND account_id = ?3 LIMIT 1`,
    );
    this.#formerParent = sqlite.prepare<FormerParent, [number, number]>(
      `SELECT * FROM (SELECT parent_id AS parentId, seq AS leftSeq FROM former_places
         WHERE node_id = ?1 AND seq > ?2 ORDER BY seq LIMIT 1)
       UNION ALL SELECT parent_id, 0 FROM nodes WHERE id = ?1 LIMIT 1`,
    );
    this.#ownSeqs = sqlite.prepare<{ nodeId: number; seq: number }, [number, number, number, string]>(
      `SELECT node_id AS nodeId, seq FROM journal WHERE account_id = ?1 AND seq BETWEEN ?2 AND ?3
         AND node_id IN (SELECT value FROM json_each(?4)) ORDER BY seq`,
    );
    // A negative created_seq is minus the id of a large copy: the node appeared together with that copy.
    this.#createdSeqs = sqlite.prepare<{ id: number; createdSeq: number }, [string]>(
      `SELECT n.id, CASE WHEN n.created_seq >= 0 THEN n.created_seq
         ELSE ifnull((SELECT s.created_seq FROM nodes s WHERE s.id = -n.created_seq), 0) END AS createdSeq
       FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value`,
    );
  }

  /** The entries of a page, each marked as created or updated. */
  classify(accountId: number, run: ChangePosition, page: readonly EmittedEntry[]): ChangeEntry[] {
    const newSince = this.#newSince(accountId, runStart(run), page);
    const changed = new Map<number, ChangedNode>();
    for (const { entry, at } of page) {
      if (entry.change === "deleted") continue;
      const effectiveSeq = at.within?.rowSeq ?? at.seq;
      const createdSeq = newSince.get(entry.node.id);
      if (createdSeq !== undefined && createdSeq <= lastReadSeq(run) && effectiveSeq > runHeadOf(run)) {
        changed.set(entry.node.id, { createdSeq, effectiveSeq });
      }
    }
    const emittedBefore = this.#emittedBefore(accountId, run, changed);
    return page.map(({ entry }): ChangeEntry => {
      if (entry.change === "deleted") return entry;
      const isKnown = !newSince.has(entry.node.id) || emittedBefore.has(entry.node.id);
      return { ...entry, change: isKnown ? "updated" : "created" };
    });
  }

  /**
   * Which of these nodes, all made since the run began, the run emitted before. A node was emitted in a range if, at the
   * range's end, none of its changes lay between that end and the range's head.
   */
  #emittedBefore(accountId: number, run: ChangePosition, changed: ReadonlyMap<number, ChangedNode>): Set<number> {
    const emitted = new Set<number>();
    if (changed.size === 0) return emitted;
    const headSeq = run.ranges.at(-1)?.headSeq ?? run.seq;
    const firstSeq = Math.max(runStart(run) + 1, headSeq - EARLIER_ROWS_MAX);
    const rows = this.#ownSeqs.all(accountId, firstSeq, headSeq, JSON.stringify([...changed.keys()]));
    const seqs = Map.groupBy(rows, ({ nodeId }) => nodeId);
    for (const [nodeId, { createdSeq, effectiveSeq }] of changed) {
      const own = seqs.get(nodeId) ?? [];
      const isEmitted = run.ranges.some((range, index) => {
        const endSeq = run.ranges[index + 1]?.fromSeq ?? lastReadSeq(run);
        if (createdSeq > endSeq || effectiveSeq <= range.headSeq) return false;
        return endSeq < firstSeq - 1 || !own.some(({ seq }) => seq > endSeq && seq <= range.headSeq);
      });
      if (isEmitted) emitted.add(nodeId);
    }
    return emitted;
  }

  /**
   * By row id, the number at which a node of the page was made or left the trash, if that is after `knownSeq`. A node
   * that was in the trash at `knownSeq` is new to the reader again.
   */
  #newSince(accountId: number, knownSeq: number, page: readonly EmittedEntry[]): ReadonlyMap<number, number> {
    const found = new Map<number, number>();
    const hasReturns = this.#hasReturns.get(IN_TRASH, knownSeq, accountId) !== null;
    const returns = new Map<number, number | undefined>();
    const ids = page.flatMap(({ entry }) => (entry.change === "deleted" ? [] : [entry.node.id]));
    for (const { id, createdSeq } of this.#createdSeqs.all(JSON.stringify(ids))) {
      let newSeq: number | undefined;
      if (createdSeq > knownSeq) newSeq = createdSeq;
      else if (hasReturns) newSeq = this.#returnSeq(id, knownSeq, returns);
      if (newSeq !== undefined) found.set(id, newSeq);
    }
    return found;
  }

  /**
   * The number by which a node left the trash, if it or a folder above it was in the trash at `knownSeq`.
   * @param returns results for nodes and folders seen before; this call adds its own
   */
  #returnSeq(nodeId: number, knownSeq: number, returns: Map<number, number | undefined>): number | undefined {
    const visited: number[] = [];
    let found: number | undefined;
    for (let id: number | null = nodeId; id !== null; ) {
      if (returns.has(id)) {
        found = returns.get(id);
        break;
      }
      visited.push(id);
      const former: FormerParent | null = this.#formerParent.get(id, knownSeq);
      if (former?.parentId === IN_TRASH) {
        found = former.leftSeq;
        break;
      }
      id = former?.parentId ?? null;
    }
    for (const id of visited) returns.set(id, found);
    return found;
  }
}
