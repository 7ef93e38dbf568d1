import { expect, test } from "bun:test";

const isLinux = process.platform === "linux";

/** Starts a program that opens files until so many descriptors are left of 64, and then asks for a thread. */
function ask(left: number): string {
  const program = `
    import { openSync } from "node:fs";
    import { countOpenDescriptors, readDescriptorLimit, requireDescriptors } from "${import.meta.dir}/../../../src/lib/descriptors.ts";
    const limit = readDescriptorLimit();
    while (countOpenDescriptors() < limit - ${left}) openSync("/dev/null", "r");
    try {
      requireDescriptors();
      console.log("may start");
    } catch (error) {
      console.log(error.code);
    }`;
  const command = ["prlimit", "--nofile=64:64", process.execPath, "-e", program];
  return Bun.spawnSync(command, { stderr: "inherit" }).stdout.toString().trim();
}

test.skipIf(!isLinux)("a thread is refused while few descriptors are left", () => {
  expect(ask(2)).toBe("EMFILE");
  expect(ask(30)).toBe("may start");
});
