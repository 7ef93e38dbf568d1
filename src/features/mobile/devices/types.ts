import type { User } from "../../accounts/users/types.ts";
import type { DeviceSettings } from "./settings.ts";

/** A registered phone, tablet or computer. */
export interface Device {
  /** Row id; never reused. */
  readonly id: number;
  readonly accountId: number;
  /** The id that the device chose; unique within the account. */
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

/** Id and name of a device, which may be removed. */
export interface DeviceName {
  readonly publicId: string;
  readonly name: string;
}

/** What a device reports when it registers. */
export interface DeviceInfo {
  /** In NFC. */
  readonly deviceId: string;
  readonly platform: string;
  readonly model?: string | undefined;
  readonly osVersion?: string | undefined;
  readonly appVersion?: string | undefined;
  readonly pushToken?: string | undefined;
}

/** The two tokens of a device. */
export interface DeviceTokens {
  /** Authenticates requests, for 7 days. */
  readonly accessToken: string;
  /** Can be exchanged for new tokens once, within 90 days. */
  readonly refreshToken: string;
}

/** A device that has just been signed in. */
export interface SignedInDevice {
  readonly user: User;
  readonly device: Device;
  readonly tokens: DeviceTokens;
}
