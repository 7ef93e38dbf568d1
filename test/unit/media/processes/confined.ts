// Confines itself, then tries to connect to the port of its argument, to resolve a name, and to start a program.
import { connect } from "node:net";
import { lookup } from "node:dns/promises";
import { denyNetwork } from "../../../../src/features/media/processes/sandbox.ts";

const [port = "", mode = ""] = process.argv.slice(2);
const obstacle = mode === "free" ? "not asked" : denyNetwork({ mayStartPrograms: mode === "programs" });

async function tryConnect(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({ host: "127.0.0.1", port: Number(port) });
  socket.on("connect", () => resolve("connected"));
  socket.on("error", () => resolve("failed"));
  return promise;
}

function tryProgram(): string {
  try {
    return Bun.spawnSync(["/bin/true"]).success ? "started" : "failed";
  } catch {
    return "failed";
  }
}

const fetched = await fetch(`http://127.0.0.1:${port}/`).then(
  () => "connected",
  () => "failed",
);
const resolved =
  mode === "free"
    ? ""
    : await lookup("example.org").then(
        () => "resolved",
        () => "failed",
      );
console.log(JSON.stringify({ obstacle, fetched, connected: await tryConnect(), resolved, program: tryProgram() }));
process.exit(0);
