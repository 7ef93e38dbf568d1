import { expect, test } from "bun:test";
import { parseAcceptLanguage, requestLanguage } from "../../../src/http/language.ts";

test("the preferred languages come in the order of their quality", () => {
  expect(parseAcceptLanguage("en;q=0.5, de-AT, fr;q=0.8;x=1, *;q=0.1, es;q=0")).toEqual(["de-AT", "fr", "en"]);
  expect(parseAcceptLanguage("")).toEqual([]);
  expect(parseAcceptLanguage("de;q=x, ,;q=1")).toEqual([]);
  expect(parseAcceptLanguage("aa,".repeat(1000))).toHaveLength(20);
});

test("a language that nobody translated is English", () => {
  const request = new Request("http://larder.example/", { headers: { "accept-language": "tlh, en" } });
  expect(requestLanguage(request)).toBe("en");
});
