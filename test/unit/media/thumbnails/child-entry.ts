import { runThumbnailChild } from "../../../../src/features/media/thumbnails/child.ts";

runThumbnailChild();
