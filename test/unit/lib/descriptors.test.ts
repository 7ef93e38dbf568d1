import { expect, test } from "bun:test";

const isLinux = process.platform === "linux";

/** Starts a program that opens files until `left` of 64 descriptors are left, then starts a thread. */
function startThreadWith(left: number): string {
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

test.skipIf(!isLinux)("no thread is started while few descriptors are left", () => {
  expect(startThreadWith(2)).toBe("EMFILE");
  expect(startThreadWith(30)).toBe("may start");
});
