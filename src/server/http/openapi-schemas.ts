/** The named records of the OpenAPI document. Generated clients use these names for their types. */
import { t } from "elysia";
import { GroupRecord } from "../../features/accounts/groups/model.ts";
import { AccountBody, AccountRecord, JobRecord, PlanRecord } from "../../features/administration/admin-api/model.ts";
import { AuditRecord } from "../../features/administration/audit/model.ts";
import { AppPasswordList, AppPasswordRecord } from "../../features/accounts/app-passwords/model.ts";
import { ApiKeyRecord } from "../../features/accounts/api-keys/model.ts";
import {
  Code,
  ConfirmedRecord,
  ProofBody,
  ProofPassword,
  SignedInResponse,
  SessionRecord,
  UserRecord,
} from "../../features/accounts/auth/model.ts";
import { CONFLICT_SCHEMAS, ItemError } from "../../features/mobile/conflicts/model.ts";
import {
  DeviceDetailsRecord,
  DeviceRecord,
  DeviceSettingsRecord,
  DeviceSignedInResponse,
  RemovedDevice,
  Tokens,
} from "../../features/mobile/devices/model.ts";
import { DurabilityRecord } from "../../features/mobile/durability/model.ts";
import { ALBUM_SCHEMAS } from "../../features/library/albums/model.ts";
import { FILE_SCHEMAS, FailedItem, FileIds, Item, ShareMarkRecord } from "../../features/library/files/model.ts";
import { FindingRecord } from "../../features/storage/integrity/model.ts";
import { InviteRecord } from "../../features/accounts/invites/model.ts";
import { DecisionRecord, HoldsRecord } from "../../features/mobile/mass-change/model.ts";
import { MediaRecord } from "../../features/media/metadata/present.ts";
import { InboxRecord, NotificationRecord, RegistrationRecord } from "../../features/messaging/notifications/model.ts";
import { AuthenticationResponse, OptionsRecord, PasskeyRecord } from "../../features/accounts/passkeys/model.ts";
import { MessageResponse } from "../../features/accounts/password-reset/model.ts";
import { Photo } from "../../features/library/photos/model.ts";
import { ArchiveEntryRecord, ExtractionRecord } from "../../features/library/zip/model.ts";
import { TrashedItem } from "../../features/library/trash/model.ts";
import { ChangedFile } from "../../features/mobile/sync/model.ts";
import { RewindBody, RewindRecord } from "../../features/mobile/rewind/model.ts";
import { PinsRecord } from "../../features/sharing/pins/model.ts";
import { CreateShareBody, SHARE_SCHEMAS } from "../../features/sharing/shares/model.ts";
import { GuestTusRecord, TusRecord } from "../../features/uploads/tus/model.ts";
import { FactorProofBody, RecoveryCodesRecord } from "../../features/accounts/two-factor/model.ts";
import { Bytes, ChunkRecord, ProgressRecord } from "../../features/uploads/chunked/model.ts";
import { LinkBody } from "../../features/accounts/oidc/model.ts";
import {
  ProfileRecord,
  SessionItem,
  SettingsBody,
  SettingsRecord,
  UsageRecord,
} from "../../features/accounts/profile/model.ts";
import { Checksum, FolderPath, Motion } from "../../http/fields.ts";
import {
  DeliveryRecord,
  WebhookEventName,
  WebhookRecord,
  WebhookWithSecret,
} from "../../features/messaging/webhooks/model.ts";
import { AdminImportRecord, ImportRecord } from "../../features/storage/imports/model.ts";
import { SettingsRecord as ServerSettingsRecord } from "../../features/administration/settings/model.ts";

/** Records that routes refer to by name. */
export const REFERENCED_SCHEMAS = { ...FILE_SCHEMAS, ...ALBUM_SCHEMAS, ...SHARE_SCHEMAS, ...CONFLICT_SCHEMAS };

/** Records that routes contain inline; each becomes a component. */
export const NAMED_SCHEMAS = {
  Account: AccountRecord,
  AccountImport: AdminImportRecord,
  AccountUpdate: AccountBody,
  ApiKey: ApiKeyRecord,
  AppPassword: AppPasswordRecord,
  AppPasswords: AppPasswordList,
  ArchiveEntry: ArchiveEntryRecord,
  Extraction: ExtractionRecord,
  AuditEntry: AuditRecord,
  Bytes,
  ChangedFile,
  Checksum,
  Chunk: ChunkRecord,
  Code,
  CurrentPassword: ProofPassword,
  Confirmed: ConfirmedRecord,
  Device: DeviceRecord,
  DeviceFacts: DeviceDetailsRecord,
  DeviceSettings: DeviceSettingsRecord,
  DeviceSignedIn: DeviceSignedInResponse,
  Durability: DurabilityRecord,
  DeviceTokens: Tokens,
  FailedItem,
  FileIds,
  Finding: FindingRecord,
  FolderPath,
  Group: GroupRecord,
  GuestUpload: GuestTusRecord,
  HoldDecision: DecisionRecord,
  Holds: HoldsRecord,
  Id: t.Object({ id: t.String() }),
  Import: ImportRecord,
  Inbox: InboxRecord,
  Invite: InviteRecord,
  Item,
  ItemError,
  Job: JobRecord,
  LinkProof: LinkBody,
  Media: MediaRecord,
  Message: MessageResponse,
  Motion,
  NewShare: CreateShareBody,
  Notification: NotificationRecord,
  Passkey: PasskeyRecord,
  PasskeyAssertion: AuthenticationResponse,
  PasskeyOptions: OptionsRecord,
  Photo,
  Pins: PinsRecord,
  Plan: PlanRecord,
  Preferences: SettingsRecord.properties.notifications,
  PreferencesUpdate: SettingsBody.properties.notifications,
  Profile: ProfileRecord,
  PushRegistration: RegistrationRecord,
  FactorProof: FactorProofBody,
  Proof: ProofBody,
  RecoveryCodes: RecoveryCodesRecord,
  RemovedDevice,
  Rewind: RewindRecord,
  RewindRequest: RewindBody,
  ServerSettings: ServerSettingsRecord,
  Session: SessionItem,
  ShareMark: ShareMarkRecord,
  SessionSummary: SessionRecord,
  Settings: SettingsRecord,
  SignedIn: SignedInResponse,
  TrashedItem,
  TusUpload: TusRecord,
  UploadProgress: ProgressRecord,
  Usage: UsageRecord,
  User: UserRecord,
  Webhook: WebhookRecord,
  WebhookDelivery: DeliveryRecord,
  WebhookEventName,
  WebhookWithSecret,
};
