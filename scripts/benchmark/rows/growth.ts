import type { Row } from "../bench.ts";
export const growth: Row = { id: "growth", title: "cost per operation", diskGib: () => 1, run: async () => undefined };
