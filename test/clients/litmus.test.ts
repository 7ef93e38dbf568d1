// litmus, the test suite for WebDAV servers, passes completely.
import { expect, test } from "bun:test";
import { clientServer, newClientAccount } from "./support/account.ts";
import { describeWith, runProgram } from "./support/programs.ts";

const server = clientServer();

const SUITES = ["basic", "copymove", "props", "locks", "http"];

/** The roots of the tree of a user. */
const ROOTS: ((user: string) => string)[] = [
  () => "/dav/",
  (user) => `/remote.php/dav/files/${encodeURIComponent(user)}/`,
  () => "/remote.php/webdav/",
];

describeWith("litmus", ["litmus"], () => {
  for (const pathOf of ROOTS) {
    test(`passes ${SUITES.join(", ")} at ${pathOf("{user}")}`, async () => {
      const { user, password } = await newClientAccount(server());
      const words = ["litmus", "--keep-going", server().url + pathOf(user), user, password];
      const { code, output } = await runProgram(words, { env: { TESTS: SUITES.join(" ") } });
      const failures = output.split("\n").filter((line) => /FAIL|WARNING/.test(line));
      expect({ code, failures }).toEqual({ code: 0, failures: [] });
      // Each suite prints how many of its tests passed.
      const passed = [...output.matchAll(/^<- summary for `(\w+)': of \d+ tests run: \d+ passed, 0 failed. 100.0%/gm)];
      expect(passed.map(([, suite]) => suite)).toEqual(SUITES);
    });
  }
});
