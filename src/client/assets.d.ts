/** Imported with `{ type: "file" }`: a path to the file that was put beside the scripts. Resolve it by `assetUrl`. */
declare module "pdfjs-dist/build/pdf.worker.min.mjs" {
  const path: string;
  export default path;
}
