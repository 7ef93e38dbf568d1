/** The records that the OpenAPI document names, and under which names: what generated clients call them. */
import { t } from "elysia";
import { AccountBody, AccountRecord, JobRecord, PlanRecord } from "../features/admin/model.ts";
import { AuditRecord } from "../features/audit/model.ts";
import { ApiKeyRecord } from "../features/api-keys/model.ts";
import { Code, ConfirmedRecord, ProofBody, SignedInAnswer, SessionRecord, UserRecord } from "../features/auth/model.ts";
import { CONFLICT_SCHEMAS, ItemError } from "../features/conflicts/model.ts";
import {
  DeviceFactsRecord,
  DeviceRecord,
  DeviceSettingsRecord,
  DeviceSignedInAnswer,
  RemovedDevice,
} from "../features/devices/model.ts";
import { DurabilityRecord } from "../features/durability/model.ts";
import { FILE_SCHEMAS } from "../features/files/model.ts";
import { FindingRecord } from "../features/integrity/model.ts";
import { InviteRecord } from "../features/invites/model.ts";
import { DecisionRecord, HoldsRecord } from "../features/mass-change/model.ts";
import { MediaRecord } from "../features/media-info/present.ts";
import { NotificationRecord } from "../features/notifications/model.ts";
import { AuthenticationResponse, OptionsRecord, PasskeyRecord } from "../features/passkeys/model.ts";
import { MessageAnswer } from "../features/password-reset/model.ts";
import { Photo } from "../features/photos/model.ts";
import { RewindBody, RewindRecord } from "../features/rewind/model.ts";
import { CreateShareBody, SHARE_SCHEMAS } from "../features/shares/model.ts";
import { GuestTusRecord, TusRecord } from "../features/tus/model.ts";
import { FactorProofBody, RecoveryCodesRecord } from "../features/two-factor/model.ts";
import { ChunkRecord, ProgressRecord } from "../features/uploads/model.ts";
import { LinkBody } from "../features/oidc/model.ts";
import { ProfileRecord, SessionItem, SettingsRecord, UsageRecord } from "../features/users/model.ts";
import { Checksum, FolderPath } from "../http/fields.ts";
import { DeliveryRecord, WebhookRecord, WebhookWithSecret } from "../features/webhooks/model.ts";

/** Records that routes refer to by name. */
export const REFERENCED_SCHEMAS = { ...FILE_SCHEMAS, ...SHARE_SCHEMAS, ...CONFLICT_SCHEMAS };

/** Records that routes spell out, and that become a component each. */
export const NAMED_SCHEMAS = {
  Account: AccountRecord,
  AccountUpdate: AccountBody,
  ApiKey: ApiKeyRecord,
  AuditEntry: AuditRecord,
  Checksum,
  Chunk: ChunkRecord,
  Code,
  Confirmed: ConfirmedRecord,
  Device: DeviceRecord,
  DeviceFacts: DeviceFactsRecord,
  DeviceSettings: DeviceSettingsRecord,
  DeviceSignedIn: DeviceSignedInAnswer,
  Durability: DurabilityRecord,
  Finding: FindingRecord,
  FolderPath,
  GuestUpload: GuestTusRecord,
  HoldDecision: DecisionRecord,
  Holds: HoldsRecord,
  Id: t.Object({ id: t.String() }),
  Invite: InviteRecord,
  ItemError,
  Job: JobRecord,
  LinkProof: LinkBody,
  Media: MediaRecord,
  Message: MessageAnswer,
  NewShare: CreateShareBody,
  Notification: NotificationRecord,
  Passkey: PasskeyRecord,
  PasskeyAssertion: AuthenticationResponse,
  PasskeyOptions: OptionsRecord,
  Photo,
  Plan: PlanRecord,
  Profile: ProfileRecord,
  FactorProof: FactorProofBody,
  Proof: ProofBody,
  RecoveryCodes: RecoveryCodesRecord,
  RemovedDevice,
  Rewind: RewindRecord,
  RewindRequest: RewindBody,
  Session: SessionItem,
  SessionSummary: SessionRecord,
  Settings: SettingsRecord,
  SignedIn: SignedInAnswer,
  TusUpload: TusRecord,
  UploadProgress: ProgressRecord,
  Usage: UsageRecord,
  User: UserRecord,
  Webhook: WebhookRecord,
  WebhookDelivery: DeliveryRecord,
  WebhookWithSecret,
};
