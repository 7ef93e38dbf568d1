/** Imported with `{ type: "file" }`: a path to read it from, inside the executable too. */
declare module "*/towns.bin" {
  const path: string;
  export default path;
}
