import { expect, test } from "bun:test";
import { changeDeviceSettings, readDeviceSettings } from "../../../../src/features/mobile/devices/settings.ts";

test("what was never set follows the defaults, also those of a later version", () => {
  const json = changeDeviceSettings("{}", { wifiOnly: false });
  expect(json).toBe('{"wifiOnly":false}');
  expect(readDeviceSettings(json)).toEqual({ ...readDeviceSettings("{}"), wifiOnly: false });
});

test("a change names what it changes, and leaves the rest", () => {
  let json = changeDeviceSettings("{}", { autoUpload: true, maxCacheSizeBytes: 0, syncFolders: ["/a"] });
  json = changeDeviceSettings(json, { syncFolders: [], autoUpload: undefined });
  expect(readDeviceSettings(json)).toMatchObject({ autoUpload: true, maxCacheSizeBytes: 0, syncFolders: [] });
});

test("folders are kept once, in their one form", () => {
  const json = changeDeviceSettings("{}", { syncFolders: ["/e\u0301/", "/\u00e9", "/"] });
  expect(readDeviceSettings(json).syncFolders).toEqual(["/\u00e9", "/"]);
});
