import type { User } from "../../accounts/users/types.ts";
import type { DeviceSettings } from "./settings.ts";

/** A registered phone, tablet or other machine. */
export interface Device {
  /** Key inside the database, never given again. */
  readonly id: number;
  readonly accountId: number;
  /** As the device chose it; unique within the account. */
  readonly publicId: string;
  readonly name: string;
  readonly platform: string;
  readonly model: string | null;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
  readonly registeredAtMs: number;
  /** Exact to a minute. */
  readonly lastActiveAtMs: number;
  readonly settings: DeviceSettings;
}

/** How a device is called, also after it was removed. */
export interface DeviceName {
  readonly publicId: string;
  readonly name: string;
}

/** What a device says of itself when it is registered. */
export interface DeviceInfo {
  /** In NFC: see `device-id.ts`. */
  readonly deviceId: string;
  readonly platform: string;
  readonly model?: string | undefined;
  readonly osVersion?: string | undefined;
  readonly appVersion?: string | undefined;
  readonly pushToken?: string | undefined;
}

/** The two tokens of a device. */
export interface DeviceTokens {
  /** Opens the API, for 7 days. */
  readonly accessToken: string;
  /** Gives the next pair, once, within 90 days. */
  readonly refreshToken: string;
}

/** A device that has just been signed in. */
export interface SignedInDevice {
  readonly user: User;
  readonly device: Device;
  readonly tokens: DeviceTokens;
}
