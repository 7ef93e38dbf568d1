// litmus, the test suite for WebDAV servers, passes completely.
import { expect, test } from "bun:test";
import { clientServer, newClientAccount } from "./support/account.ts";
import { describeWith, runProgram } from "./support/programs.ts";

const server = clientServer();

/** The suites of litmus that each address passes. */
const SUITES: [path: (user: string) => string, suites: string[]][] = [
  [() => "/dav/", ["basic", "copymove", "props", "locks", "http"]],
  [(user) => `/remote.php/dav/files/${encodeURIComponent(user)}/`, ["basic", "copymove", "props"]],
  [() => "/remote.php/webdav/", ["basic", "copymove", "props"]],
];

describeWith("litmus", ["litmus"], () => {
  for (const [pathOf, suites] of SUITES) {
    test(`passes ${suites.join(", ")} at ${pathOf("{user}")}`, async () => {
      const { user, password } = await newClientAccount(server());
      const words = ["litmus", "--keep-going", server().url + pathOf(user), user, password];
      const { code, output } = await runProgram(words, { env: { TESTS: suites.join(" ") } });
      const failures = output.split("\n").filter((line) => /FAIL|WARNING/.test(line));
      expect({ code, failures }).toEqual({ code: 0, failures: [] });
      // Each suite prints how many of its tests passed.
      const passed = [...output.matchAll(/^<- summary for `(\w+)': of \d+ tests run: \d+ passed, 0 failed. 100.0%/gm)];
      expect(passed.map(([, suite]) => suite)).toEqual(suites);
    });
  }
});
