import { runThumbnailChild } from "../../../src/features/thumbnails/child.ts";

runThumbnailChild();
