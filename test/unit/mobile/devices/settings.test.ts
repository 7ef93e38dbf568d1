import { expect, test } from "bun:test";
import { changeDeviceSettings, readDeviceSettings } from "../../../../src/features/mobile/devices/settings.ts";

test("settings that were never set have the defaults, also those of a later version", () => {
  const json = changeDeviceSettings("{}", { wifiOnly: false });
  expect(json).toBe('{"wifiOnly":false}');
  expect(readDeviceSettings(json)).toEqual({ ...readDeviceSettings("{}"), wifiOnly: false });
});

test("a change leaves the other settings unchanged", () => {
  let json = changeDeviceSettings("{}", { autoUpload: true, maxCacheSizeBytes: 0, syncFolders: ["/a"] });
  json = changeDeviceSettings(json, { syncFolders: [], autoUpload: undefined });
  expect(readDeviceSettings(json)).toMatchObject({ autoUpload: true, maxCacheSizeBytes: 0, syncFolders: [] });
});

test("folders are stored once, normalized", () => {
  const json = changeDeviceSettings("{}", { syncFolders: ["/e\u0301/", "/\u00e9", "/"] });
  expect(readDeviceSettings(json).syncFolders).toEqual(["/\u00e9", "/"]);
});
