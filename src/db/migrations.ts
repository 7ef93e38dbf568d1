/**
 * The files of migrations/, in order, as text inside the executable. Released files are frozen: a change of the data
 * model is a new file, with its import and its line in the list here. Then run: bun scripts/schema.ts
 */
import init from "../../migrations/0000_init.sql" with { type: "text" };
import devices from "../../migrations/0001_devices.sql" with { type: "text" };
import journal from "../../migrations/0002_journal.sql" with { type: "text" };
import uploads from "../../migrations/0003_uploads.sql" with { type: "text" };
import sync from "../../migrations/0004_sync.sql" with { type: "text" };
import queue from "../../migrations/0005_queue.sql" with { type: "text" };
import notifications from "../../migrations/0006_notifications.sql" with { type: "text" };
import shares from "../../migrations/0007_shares.sql" with { type: "text" };
import history from "../../migrations/0008_history.sql" with { type: "text" };
import trash from "../../migrations/0009_trash.sql" with { type: "text" };
import search from "../../migrations/0010_search.sql" with { type: "text" };
import credentials from "../../migrations/0011_credentials.sql" with { type: "text" };
import mail from "../../migrations/0012_mail.sql" with { type: "text" };
import administration from "../../migrations/0013_administration.sql" with { type: "text" };
import webhooks from "../../migrations/0014_webhooks.sql" with { type: "text" };
import findings from "../../migrations/0015_findings.sql" with { type: "text" };
import storeJournal from "../../migrations/0016_store_journal.sql" with { type: "text" };
import remoteBlobs from "../../migrations/0017_remote_blobs.sql" with { type: "text" };
import dailySamples from "../../migrations/0018_daily_samples.sql" with { type: "text" };
import photos from "../../migrations/0019_photos.sql" with { type: "text" };
import tus from "../../migrations/0020_tus.sql" with { type: "text" };
import auditTarget from "../../migrations/0021_audit_target.sql" with { type: "text" };
import limits from "../../migrations/0022_limits.sql" with { type: "text" };
import nodeLimits from "../../migrations/0023_node_limits.sql" with { type: "text" };
import proof from "../../migrations/0024_proof.sql" with { type: "text" };
import emailConfirmation from "../../migrations/0025_email_confirmation.sql" with { type: "text" };
import pushTargets from "../../migrations/0026_push_targets.sql" with { type: "text" };
import shareVersions from "../../migrations/0027_share_versions.sql" with { type: "text" };
import sessionOrigins from "../../migrations/0028_session_origins.sql" with { type: "text" };
import bucketFindings from "../../migrations/0029_bucket_findings.sql" with { type: "text" };
import storeJournalHistory from "../../migrations/0030_store_journal.sql" with { type: "text" };
import unconfirmedAccounts from "../../migrations/0031_unconfirmed_accounts.sql" with { type: "text" };
import folderStates from "../../migrations/0032_folder_states.sql" with { type: "text" };
import appPasswords from "../../migrations/0033_app_passwords.sql" with { type: "text" };
import locks from "../../migrations/0034_locks.sql" with { type: "text" };
import properties from "../../migrations/0035_properties.sql" with { type: "text" };
import loginFlows from "../../migrations/0036_login_flows.sql" with { type: "text" };
import clientUploads from "../../migrations/0037_client_uploads.sql" with { type: "text" };
import auditAppPasswords from "../../migrations/0038_audit_app_passwords.sql" with { type: "text" };
import naturalOrder from "../../migrations/0039_natural_order.sql" with { type: "text" };
import albums from "../../migrations/0040_albums.sql" with { type: "text" };
import favorites from "../../migrations/0041_favorites.sql" with { type: "text" };
import livePhotos from "../../migrations/0042_live_photos.sql" with { type: "text" };
import places from "../../migrations/0043_places.sql" with { type: "text" };
import settings from "../../migrations/0044_settings.sql" with { type: "text" };
import hiddenPairs from "../../migrations/0045_hidden_pairs.sql" with { type: "text" };
import browserPush from "../../migrations/0046_browser_push.sql" with { type: "text" };
import groups from "../../migrations/0047_groups.sql" with { type: "text" };
import openedFiles from "../../migrations/0048_opened_files.sql" with { type: "text" };
import people from "../../migrations/0050_people.sql" with { type: "text" };
import avatars from "../../migrations/0051_avatars.sql" with { type: "text" };
import mailCauses from "../../migrations/0052_mail_causes.sql" with { type: "text" };
import imports from "../../migrations/0053_imports.sql" with { type: "text" };
import unsetLanguage from "../../migrations/0054_unset_language.sql" with { type: "text" };
import schema from "../../migrations/schema.sql" with { type: "text" };

/** One step of the data model. `id` is the file's name; the steps run in this order and never again. */
export interface Migration {
  readonly id: string;
  readonly sql: string;
}

/** All steps this program knows, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  { id: "0000_init", sql: init },
  { id: "0001_devices", sql: devices },
  { id: "0002_journal", sql: journal },
  { id: "0003_uploads", sql: uploads },
  { id: "0004_sync", sql: sync },
  { id: "0005_queue", sql: queue },
  { id: "0006_notifications", sql: notifications },
  { id: "0007_shares", sql: shares },
  { id: "0008_history", sql: history },
  { id: "0009_trash", sql: trash },
  { id: "0010_search", sql: search },
  { id: "0011_credentials", sql: credentials },
  { id: "0012_mail", sql: mail },
  { id: "0013_administration", sql: administration },
  { id: "0014_webhooks", sql: webhooks },
  { id: "0015_findings", sql: findings },
  { id: "0016_store_journal", sql: storeJournal },
  { id: "0017_remote_blobs", sql: remoteBlobs },
  { id: "0018_daily_samples", sql: dailySamples },
  { id: "0019_photos", sql: photos },
  { id: "0020_tus", sql: tus },
  { id: "0021_audit_target", sql: auditTarget },
  { id: "0022_limits", sql: limits },
  { id: "0023_node_limits", sql: nodeLimits },
  { id: "0024_proof", sql: proof },
  { id: "0025_email_confirmation", sql: emailConfirmation },
  { id: "0026_push_targets", sql: pushTargets },
  { id: "0027_share_versions", sql: shareVersions },
  { id: "0028_session_origins", sql: sessionOrigins },
  { id: "0029_bucket_findings", sql: bucketFindings },
  { id: "0030_store_journal", sql: storeJournalHistory },
  { id: "0031_unconfirmed_accounts", sql: unconfirmedAccounts },
  { id: "0032_folder_states", sql: folderStates },
  { id: "0033_app_passwords", sql: appPasswords },
  { id: "0034_locks", sql: locks },
  { id: "0035_properties", sql: properties },
  { id: "0036_login_flows", sql: loginFlows },
  { id: "0037_client_uploads", sql: clientUploads },
  { id: "0038_audit_app_passwords", sql: auditAppPasswords },
  { id: "0039_natural_order", sql: naturalOrder },
  { id: "0040_albums", sql: albums },
  { id: "0041_favorites", sql: favorites },
  { id: "0042_live_photos", sql: livePhotos },
  { id: "0043_places", sql: places },
  { id: "0044_settings", sql: settings },
  { id: "0045_hidden_pairs", sql: hiddenPairs },
  { id: "0046_browser_push", sql: browserPush },
  { id: "0047_groups", sql: groups },
  { id: "0048_opened_files", sql: openedFiles },
  { id: "0050_people", sql: people },
  { id: "0051_avatars", sql: avatars },
  { id: "0052_mail_causes", sql: mailCauses },
  { id: "0053_imports", sql: imports },
  { id: "0054_unset_language", sql: unsetLanguage },
];

/** Makes in an empty database what all steps leave there. Written by scripts/schema.ts. */
export const SCHEMA: string = schema;
