/** Imported with `{ type: "text" }`: the text of the file. */
declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*/larder.css" {
  const text: string;
  export default text;
}

/** Imported with `{ type: "file" }`: a path to read it from, inside the executable too. */
declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  const path: string;
  export default path;
}
declare module "swagger-ui-dist/swagger-ui.css" {
  const path: string;
  export default path;
}
