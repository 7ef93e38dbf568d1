/**
 * Imported with `{ type: "file" }`: the path of a file that is bundled next to the scripts. Resolve it with `assetUrl`.
 */
declare module "pdfjs-dist/build/pdf.worker.min.mjs" {
  const path: string;
  export default path;
}

/** Imported with `{ type: "text" }`: the text of the file, inside the script. */
declare module "*/outlines.txt" {
  const text: string;
  export default text;
}
