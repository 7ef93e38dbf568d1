declare module "@hyzyla/pdfium/pdfium.wasm" {
  /** Path of the file, also inside the executable. */
  const path: string;
  export default path;
}
