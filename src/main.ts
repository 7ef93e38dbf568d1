/** Entry of the executable: runs the command line, or becomes a worker process before any other code is loaded. */
import process from "node:process";

if (process.argv[2] === "thumbnail-worker") {
  const { runThumbnailChild } = await import("./features/media/thumbnails/child.ts");
  runThumbnailChild();
} else if (process.argv[2] === "media-worker") {
  const { runMediaChild } = await import("./features/media/metadata/child.ts");
  runMediaChild();
} else if (process.argv[2] === "document-worker") {
  const { runDocumentChild } = await import("./features/media/documents/child.ts");
  runDocumentChild();
} else if (process.argv[2] === "edit-worker") {
  const { runEditChild } = await import("./features/media/editing/child.ts");
  await runEditChild();
} else {
  const [{ runCli }, { processTerminal }] = await Promise.all([
    import("./cli/cli.ts"),
    import("./cli/shared/output.ts"),
  ]);
  // New files are accessible only by this user, in any directory.
  process.umask(0o077);
  const context = { terminal: processTerminal, environment: process.env, directory: process.cwd() };
  process.exit(await runCli(process.argv.slice(2), context));
}
