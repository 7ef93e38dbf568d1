-- Written by scripts/schema.ts. Don't change it by hand: change the model by a new step.

CREATE TABLE migrations (id TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE `accounts` (
	`id` integer PRIMARY KEY NOT NULL,
	`root_id` integer NOT NULL,
	`seq` integer DEFAULT 0 NOT NULL,
	`floor_seq` integer DEFAULT 0 NOT NULL,
	`files` integer DEFAULT 0 NOT NULL,
	`folders` integer DEFAULT 0 NOT NULL,
	`file_bytes` integer DEFAULT 0 NOT NULL,
	`version_bytes` integer DEFAULT 0 NOT NULL,
	`trash_bytes` integer DEFAULT 0 NOT NULL,
	`quota_bytes` integer, `reserved_bytes` integer DEFAULT 0 NOT NULL, `changed_at` integer DEFAULT 0 NOT NULL, `trash_nodes` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "accounts_counts" CHECK("accounts"."files" >= 0 AND "accounts"."folders" >= 0 AND "accounts"."file_bytes" >= 0 AND "accounts"."version_bytes" >= 0 AND "accounts"."trash_bytes" >= 0)
) STRICT;

CREATE TABLE `transfers` (
	`account_id` integer NOT NULL,
	`period` text NOT NULL,
	`uploads` integer DEFAULT 0 NOT NULL,
	`uploaded_bytes` integer DEFAULT 0 NOT NULL,
	`downloads` integer DEFAULT 0 NOT NULL,
	`downloaded_bytes` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account_id`, `period`)
) STRICT, WITHOUT ROWID;

CREATE TABLE `usage_types` (
	`account_id` integer NOT NULL,
	`type` text NOT NULL,
	`files` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`account_id`, `type`)
) STRICT, WITHOUT ROWID;

CREATE TABLE `blobs` (
	`id` integer PRIMARY KEY NOT NULL,
	`digest` blob NOT NULL,
	`size_bytes` integer NOT NULL,
	`crc32` integer NOT NULL,
	`refs` integer NOT NULL,
	`created_at` integer NOT NULL,
	`touched_at` integer NOT NULL,
	`damaged_at` integer, `verified_at` integer,
	CONSTRAINT "blobs_refs" CHECK("blobs"."refs" >= 0)
) STRICT;

CREATE UNIQUE INDEX `blobs_digest` ON `blobs` (`digest`);

CREATE INDEX `blobs_unreferenced` ON `blobs` (`touched_at`) WHERE refs = 0;

CREATE TABLE `quarantine` (
	`digest` blob PRIMARY KEY NOT NULL,
	`size_bytes` integer NOT NULL,
	`since` integer NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE `thumbnail_failures` (
	`digest` blob PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`program` text NOT NULL,
	`failed_at` integer NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE `idempotency_keys` (
	`account_id` integer NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`result` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `key`)
) STRICT, WITHOUT ROWID;

CREATE INDEX `idempotency_keys_age` ON `idempotency_keys` (`created_at`);

CREATE TABLE `jobs` (
	`name` text PRIMARY KEY NOT NULL,
	`last_started_at` integer,
	`last_finished_at` integer,
	`last_result` text,
	`last_error` text,
	`cursor` text,
	`requested_at` integer,
	`request_arguments` text
) STRICT, WITHOUT ROWID;

CREATE TABLE `meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE `rate_hits` (
	`subject` text NOT NULL,
	`category` text NOT NULL,
	`at` integer NOT NULL,
	`hits` integer NOT NULL,
	`rejected` integer NOT NULL,
	PRIMARY KEY(`subject`, `category`, `at`)
) STRICT, WITHOUT ROWID;

CREATE INDEX `rate_hits_at` ON `rate_hits` (`at`);

CREATE TABLE `folders` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`child_folders` integer DEFAULT 0 NOT NULL,
	`child_files` integer DEFAULT 0 NOT NULL,
	`children_rev` integer DEFAULT 0 NOT NULL,
	`path_seq` integer DEFAULT 0 NOT NULL, `levels_below` integer DEFAULT 0 NOT NULL, `bytes_below` integer DEFAULT 0 NOT NULL, `bytes` integer, `tree_bytes` integer, `tree_rev` integer DEFAULT 0 NOT NULL, `children_at` integer,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;

CREATE TABLE `journal` (
	`account_id` integer NOT NULL,
	`seq` integer NOT NULL,
	`node_id` integer NOT NULL, `at` integer DEFAULT 0 NOT NULL, `device_id` integer,
	PRIMARY KEY(`account_id`, `seq`)
) STRICT, WITHOUT ROWID;

CREATE TABLE `node_access` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`downloads` integer NOT NULL,
	`last_accessed_at` integer NOT NULL
) STRICT;

CREATE TABLE `node_tags` (
	`tag_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	PRIMARY KEY(`tag_id`, `node_id`)
) STRICT, WITHOUT ROWID;

CREATE TABLE `nodes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`parent_id` integer,
	`kind` integer NOT NULL,
	`name` text NOT NULL,
	`sort_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`modified_at` integer NOT NULL,
	`seq` integer NOT NULL,
	`created_seq` integer NOT NULL,
	`size_bytes` integer NOT NULL,
	`media_type` text,
	`blob_id` integer,
	`version` integer,
	`content_at` integer,
	`content_by` integer,
	`original_name` text,
	`file_modified_at` text,
	`captured_at` text,
	`is_public` integer DEFAULT 0 NOT NULL,
	`tags` text,
	`metadata` text, `content_device_id` integer, `file_at` integer DEFAULT 0 NOT NULL, `natural_key` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`blob_id`) REFERENCES `blobs`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "nodes_kind" CHECK("nodes"."kind" IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX `nodes_public` ON `nodes` (`public_id`);

CREATE UNIQUE INDEX `nodes_name` ON `nodes` (`parent_id`,`kind`,`sort_key`,`name`);

CREATE INDEX `nodes_size` ON `nodes` (`parent_id`,`kind`,`size_bytes`);

CREATE INDEX `nodes_created` ON `nodes` (`parent_id`,`kind`,`created_at`);

CREATE INDEX `nodes_modified` ON `nodes` (`parent_id`,`kind`,`modified_at`);

CREATE TABLE `tags` (
	`id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`key` text NOT NULL,
	`name` text NOT NULL,
	`count` integer NOT NULL
) STRICT;

CREATE UNIQUE INDEX `tags_key` ON `tags` (`account_id`,`key`);

CREATE TABLE `tombstones` (
	`account_id` integer NOT NULL,
	`seq` integer NOT NULL,
	`node_id` integer NOT NULL,
	`public_id` text NOT NULL,
	`kind` integer NOT NULL,
	`created_seq` integer NOT NULL,
	`deleted_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `seq`)
) STRICT, WITHOUT ROWID;

CREATE TABLE `versions` (
	`node_id` integer NOT NULL,
	`version` integer NOT NULL,
	`blob_id` integer NOT NULL,
	`size_bytes` integer NOT NULL,
	`media_type` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` integer, `replaced_at` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`node_id`, `version`),
	FOREIGN KEY (`blob_id`) REFERENCES `blobs`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;

CREATE INDEX `versions_blob` ON `versions` (`blob_id`);

CREATE TABLE `invites` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`token_hash` blob NOT NULL,
	`kind` text NOT NULL,
	`email_key` text,
	`role` text NOT NULL,
	`plan` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer
, `email` text, `created_by` integer, `used_by` integer) STRICT;

CREATE UNIQUE INDEX `invites_public` ON `invites` (`public_id`);

CREATE UNIQUE INDEX `invites_token` ON `invites` (`token_hash`);

CREATE TABLE `sessions` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`user_id` integer NOT NULL,
	`kind` text NOT NULL,
	`user_agent` text,
	`client_address` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL, `device_id` integer REFERENCES devices(id) ON DELETE cascade, confirmed_until INTEGER, `origin_id` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `sessions_public` ON `sessions` (`public_id`);

CREATE INDEX `sessions_user` ON `sessions` (`user_id`);

CREATE INDEX `sessions_expiry` ON `sessions` (`expires_at`);

CREATE TABLE `users` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`plan` text NOT NULL,
	`password_hash` text NOT NULL,
	`disabled_at` integer,
	`created_at` integer NOT NULL,
	`settings` text DEFAULT '{}' NOT NULL, `name_key` text, `last_active_at` integer, has_password INTEGER NOT NULL DEFAULT 1, `email_folded` text, `email_skeleton` text, `email_forms` text, `email_unconfirmed_since` integer,
	CONSTRAINT "users_role" CHECK("users"."role" IN ('admin','user','viewer')),
	CONSTRAINT "users_plan" CHECK("users"."plan" IN ('free','pro','enterprise'))
) STRICT;

CREATE UNIQUE INDEX `users_public` ON `users` (`public_id`);

CREATE UNIQUE INDEX `users_email` ON `users` (`email_key`);

CREATE VIRTUAL TABLE node_names USING fts5(t, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1');

CREATE TABLE `devices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` integer NOT NULL,
	`public_id` text NOT NULL,
	`name` text NOT NULL,
	`platform` text NOT NULL,
	`model` text,
	`os_version` text,
	`app_version` text,
	`registered_at` integer NOT NULL,
	`last_active_at` integer NOT NULL,
	`removed_at` integer,
	`settings` text DEFAULT '{}' NOT NULL,
	`last_sync_at` integer, `is_app` integer NOT NULL DEFAULT 0, `session_origin` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `devices_public` ON `devices` (`user_id`,`public_id`);

CREATE TABLE `refresh_tokens` (
	`id` integer PRIMARY KEY NOT NULL,
	`device_id` integer NOT NULL,
	`token_hash` blob NOT NULL,
	`session_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`successor_id` integer,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `refresh_tokens_token` ON `refresh_tokens` (`token_hash`);

CREATE INDEX `refresh_tokens_device` ON `refresh_tokens` (`device_id`);

CREATE INDEX `refresh_tokens_expiry` ON `refresh_tokens` (`expires_at`);

CREATE INDEX `refresh_tokens_successor` ON `refresh_tokens` (`successor_id`) WHERE successor_id IS NOT NULL;

CREATE INDEX `sessions_device` ON `sessions` (`device_id`) WHERE device_id IS NOT NULL;

CREATE TABLE `deleted_contents` (
	`account_id` integer NOT NULL,
	`digest` blob NOT NULL,
	`deleted_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `digest`)
) STRICT, WITHOUT ROWID;

CREATE INDEX `nodes_blob` ON `nodes` (`blob_id`,`account_id`) WHERE blob_id IS NOT NULL;

CREATE TABLE `undo` (
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`seq` integer NOT NULL,
	`at` integer NOT NULL,
	`node_id` integer NOT NULL,
	`public_id` text NOT NULL,
	`kind` integer NOT NULL,
	`what` text NOT NULL,
	`before` text NOT NULL,
	`rewound` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account_id`, `device_id`, `seq`)
) STRICT, WITHOUT ROWID;

CREATE INDEX `undo_node` ON `undo` (`node_id`);

CREATE TABLE `upload_sessions` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`options` text DEFAULT '{}' NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `upload_sessions_public` ON `upload_sessions` (`public_id`);

CREATE INDEX `upload_sessions_expiry` ON `upload_sessions` (`expires_at`);

CREATE INDEX `upload_sessions_account` ON `upload_sessions` (`account_id`);

CREATE TABLE `uploads` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`session_id` integer NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`local_id` text NOT NULL,
	`name` text NOT NULL,
	`folder_path` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`media_type` text,
	`digest` blob,
	`chunk_size_bytes` integer NOT NULL,
	`total_chunks` integer NOT NULL,
	`status` text NOT NULL,
	`reserved_bytes` integer NOT NULL,
	`on_conflict` text NOT NULL,
	`target_id` text,
	`base_digest` blob,
	`nonce` blob NOT NULL,
	`is_automatic` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	`failed_at` integer,
	`file_id` text,
	FOREIGN KEY (`session_id`) REFERENCES `upload_sessions`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "uploads_bytes" CHECK(size_bytes >= 0 AND reserved_bytes >= 0)
) STRICT;

CREATE UNIQUE INDEX `uploads_public` ON `uploads` (`public_id`);

CREATE INDEX `uploads_session` ON `uploads` (`session_id`);

CREATE INDEX `uploads_account` ON `uploads` (`account_id`);

CREATE INDEX `uploads_open` ON `uploads` (`device_id`,`local_id`) WHERE ended_at IS NULL;

CREATE INDEX `uploads_reserved` ON `uploads` (`account_id`,`reserved_bytes`) WHERE reserved_bytes > 0;

CREATE TABLE `upload_chunks` (
	`upload_id` integer NOT NULL,
	`idx` integer NOT NULL,
	`is_replacing` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`upload_id`, `idx`),
	FOREIGN KEY (`upload_id`) REFERENCES `uploads`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE TABLE `conflicts` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`fingerprint` blob NOT NULL,
	`type` text NOT NULL,
	`file_id` text NOT NULL,
	`remote_file_id` text NOT NULL,
	`change` text NOT NULL,
	`detected_at` integer NOT NULL,
	`awaits_content` integer DEFAULT 0 NOT NULL,
	`resolution` text,
	`resolved_at` integer,
	`outcome_file_id` text,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "conflicts_type" CHECK("conflicts"."type" IN ('modified','deleted','name'))
) STRICT;

CREATE UNIQUE INDEX `conflicts_public` ON `conflicts` (`public_id`);

CREATE UNIQUE INDEX `conflicts_change` ON `conflicts` (`device_id`,`fingerprint`);

CREATE INDEX `conflicts_open` ON `conflicts` (`device_id`,`file_id`) WHERE resolved_at IS NULL;

CREATE INDEX `conflicts_awaiting` ON `conflicts` (`device_id`) WHERE awaits_content = 1;

CREATE INDEX `conflicts_resolved` ON `conflicts` (`resolved_at`) WHERE resolved_at IS NOT NULL;

CREATE TABLE `applied_changes` (
	`device_id` integer NOT NULL,
	`fingerprint` blob NOT NULL,
	`file_id` text NOT NULL,
	`call_id` text NOT NULL,
	`seq` integer NOT NULL,
	`applied_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `fingerprint`),
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `applied_changes_file` ON `applied_changes` (`device_id`,`file_id`);

CREATE INDEX `applied_changes_age` ON `applied_changes` (`applied_at`);

CREATE TABLE `last_calls` (
	`device_id` integer PRIMARY KEY NOT NULL,
	`fingerprint` blob NOT NULL,
	`head_seq` integer NOT NULL,
	`outcomes` text NOT NULL,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `change_counts` (
	`device_id` integer NOT NULL,
	`at` integer NOT NULL,
	`deletions` integer NOT NULL,
	`replacements` integer NOT NULL,
	PRIMARY KEY(`device_id`, `at`),
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `change_counts_age` ON `change_counts` (`at`);

CREATE TABLE `holds` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`changes` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`decision` text,
	`decided_at` integer,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "holds_decision" CHECK("holds"."decision" IN ('accepted','declined'))
) STRICT;

CREATE UNIQUE INDEX `holds_public` ON `holds` (`public_id`);

CREATE INDEX `holds_account` ON `holds` (`account_id`);

CREATE INDEX `holds_device` ON `holds` (`device_id`,`decided_at`);

CREATE INDEX `holds_expiry` ON `holds` (`expires_at`);

CREATE TABLE `held_changes` (
	`id` integer PRIMARY KEY NOT NULL,
	`hold_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`fingerprint` blob NOT NULL,
	`change` text NOT NULL,
	FOREIGN KEY (`hold_id`) REFERENCES `holds`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `held_changes_change` ON `held_changes` (`device_id`,`fingerprint`);

CREATE INDEX `held_changes_hold` ON `held_changes` (`hold_id`,`id`);

CREATE INDEX `tombstones_public` ON `tombstones` (`public_id`);

CREATE TABLE `queue_operations` (
	`id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`operation_id` text NOT NULL,
	`type` text NOT NULL,
	`priority` integer NOT NULL,
	`created_at` integer NOT NULL,
	`received_at` integer NOT NULL,
	`remote_path` text,
	`file_id` text,
	`status` integer NOT NULL,
	`attempts` integer NOT NULL,
	`error` text,
	`hold_id` text,
	`finished_at` integer,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "queue_operations_type" CHECK(`type` IN ('upload', 'delete')),
	CONSTRAINT "queue_operations_status" CHECK(`status` IN (0, 1, 2))
) STRICT;

CREATE UNIQUE INDEX `queue_operations_named` ON `queue_operations` (`device_id`,`operation_id`);

CREATE INDEX `queue_operations_listed` ON `queue_operations` (`device_id`,`status`,`priority`,`created_at`,`id`);

CREATE INDEX `queue_operations_runnable` ON `queue_operations` (`device_id`,`priority`,`created_at`,`id`) WHERE status = 0 AND type = 'delete' AND hold_id IS NULL;

CREATE INDEX `queue_operations_held` ON `queue_operations` (`hold_id`) WHERE hold_id IS NOT NULL;

CREATE INDEX `queue_operations_waiting` ON `queue_operations` (`account_id`,`remote_path`) WHERE status = 0 AND type = 'upload';

CREATE INDEX `queue_operations_age` ON `queue_operations` (`received_at`) WHERE status = 0;

CREATE INDEX `queue_operations_finished` ON `queue_operations` (`finished_at`) WHERE finished_at IS NOT NULL;

CREATE TABLE `push_targets` (
	`device_id` integer PRIMARY KEY NOT NULL,
	`token` text,
	`platform` text,
	`lane` text,
	`preferences` text,
	`paused_until` integer DEFAULT 0 NOT NULL,
	`next_at` integer,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `push_targets_next` ON `push_targets` (`next_at`) WHERE next_at IS NOT NULL;

CREATE TABLE `notifications` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`public_id` text NOT NULL,
	`category` text NOT NULL,
	`title` text NOT NULL,
	`body` text NOT NULL,
	`data` text NOT NULL,
	`collapse_key` text,
	`only_device_id` integer,
	`except_device_id` integer,
	`created_at` integer NOT NULL,
	`read_at` integer,
	CONSTRAINT "notifications_category" CHECK("category" IN ('uploads','shares','storage','security'))
) STRICT;

CREATE UNIQUE INDEX `notifications_public` ON `notifications` (`public_id`);

CREATE INDEX `notifications_account` ON `notifications` (`account_id`,`created_at`,`id`);

CREATE INDEX `notifications_unread` ON `notifications` (`account_id`) WHERE read_at IS NULL;

CREATE INDEX `notifications_age` ON `notifications` (`created_at`);

CREATE TABLE `push_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`notification_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`state` text NOT NULL,
	`collapse_key` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`finished_at` integer,
	`last_error` text,
	FOREIGN KEY (`notification_id`) REFERENCES `notifications`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "push_deliveries_state" CHECK("state" IN ('queued','held','delivered','gone','failed','dropped')),
	CONSTRAINT "push_deliveries_finished" CHECK(("finished_at" IS NULL) = ("state" IN ('queued','held')))
) STRICT;

CREATE INDEX `push_deliveries_waiting` ON `push_deliveries` (`device_id`,`due_at`,`id`) WHERE finished_at IS NULL;

CREATE INDEX `push_deliveries_device` ON `push_deliveries` (`device_id`);

CREATE INDEX `push_deliveries_notification` ON `push_deliveries` (`notification_id`);

CREATE INDEX `push_deliveries_done` ON `push_deliveries` (`finished_at`) WHERE finished_at IS NOT NULL;

CREATE TABLE `upload_bursts` (
	`device_id` integer NOT NULL,
	`kind` text NOT NULL,
	`notification_id` integer NOT NULL,
	`files` integer NOT NULL,
	`pushes` integer NOT NULL,
	`pushed_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `kind`),
	FOREIGN KEY (`device_id`) REFERENCES `devices`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`notification_id`) REFERENCES `notifications`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "upload_bursts_kind" CHECK("kind" IN ('completed','failed'))
) STRICT, WITHOUT ROWID;

CREATE INDEX `upload_bursts_notification` ON `upload_bursts` (`notification_id`);

CREATE TABLE `former_places` (
	`node_id` integer NOT NULL,
	`seq` integer NOT NULL,
	`account_id` integer NOT NULL,
	`at` integer NOT NULL,
	`parent_id` integer NOT NULL,
	`kind` integer NOT NULL,
	`name` text NOT NULL,
	`sort_key` text NOT NULL,
	`born_seq` integer NOT NULL,
	PRIMARY KEY(`node_id`, `seq`)
) STRICT, WITHOUT ROWID;

CREATE INDEX `former_places_folder` ON `former_places` (`parent_id`,`seq`);

CREATE INDEX `former_places_age` ON `former_places` (`account_id`,`at`);

CREATE TABLE `trash` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`trashed_at` integer NOT NULL,
	`seq` integer NOT NULL,
	`parent_id` integer NOT NULL,
	`folder` text NOT NULL,
	`files` integer NOT NULL,
	`folders` integer NOT NULL,
	`file_bytes` integer NOT NULL,
	`version_bytes` integer NOT NULL,
	`types` text,
	`tags` text
) STRICT;

CREATE INDEX `trash_account` ON `trash` (`account_id`,`trashed_at`);

CREATE INDEX `trash_age` ON `trash` (`trashed_at`);

CREATE VIRTUAL TABLE search_text USING fts5(facets, name, tags, description, metadata, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So'");

CREATE TABLE `search_cursors` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL
) STRICT;

CREATE TABLE `search_fill` (
	`id` integer PRIMARY KEY NOT NULL,
	`format` integer NOT NULL,
	`next_id` integer NOT NULL,
	`until_id` integer NOT NULL,
	CONSTRAINT "search_fill_one" CHECK("id" = 1)
) STRICT;

CREATE TABLE `search_again` (
	`digest` blob PRIMARY KEY NOT NULL,
	`after_account_id` integer DEFAULT 0 NOT NULL,
	`after_node_id` integer DEFAULT 0 NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE `media_info` (
	`digest` blob PRIMARY KEY NOT NULL,
	`width` integer,
	`height` integer,
	`orientation` integer,
	`duration_ms` integer,
	`taken_at` text,
	`camera` text,
	`latitude` real,
	`longitude` real,
	`codec` text,
	`bitrate` integer,
	`title` text,
	`artist` text,
	`album` text,
	`failure` text,
	`program` text NOT NULL,
	`read_at` integer NOT NULL
, `content_id` text, `motion_offset` integer, `motion_bytes` integer, `reading` integer DEFAULT 0 NOT NULL, `place_id` integer) STRICT, WITHOUT ROWID;

CREATE INDEX `media_info_failures` ON `media_info` (`program`) WHERE failure IS NOT NULL;

CREATE TABLE `media_queue` (
	`digest` blob PRIMARY KEY NOT NULL,
	`media_type` text,
	`attempts` integer DEFAULT 0 NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE `api_keys` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`user_id` integer NOT NULL,
	`name` text NOT NULL,
	`key_hash` blob NOT NULL,
	`prefix` text NOT NULL,
	`scopes` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`last_used_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `api_keys_public` ON `api_keys` (`public_id`);

CREATE UNIQUE INDEX `api_keys_hash` ON `api_keys` (`key_hash`);

CREATE INDEX `api_keys_user` ON `api_keys` (`user_id`,`id`);

CREATE INDEX `api_keys_revoked` ON `api_keys` (`revoked_at`) WHERE revoked_at IS NOT NULL;

CREATE TABLE `two_factors` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`sealed_secret` blob NOT NULL,
	`created_at` integer NOT NULL,
	`enabled_at` integer,
	`last_step` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TABLE `recovery_codes` (
	`user_id` integer NOT NULL,
	`code_hash` blob NOT NULL,
	PRIMARY KEY(`user_id`, `code_hash`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE TABLE `passkeys` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`user_id` integer NOT NULL,
	`name` text NOT NULL,
	`rp_id` text NOT NULL,
	`credential_id` blob NOT NULL,
	`public_key` blob NOT NULL,
	`counter` integer NOT NULL,
	`transports` text NOT NULL,
	`is_backed_up` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `passkeys_public` ON `passkeys` (`public_id`);

CREATE UNIQUE INDEX `passkeys_credential` ON `passkeys` (`credential_id`);

CREATE INDEX `passkeys_user` ON `passkeys` (`user_id`,`id`);

CREATE TABLE `mails` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer,
	`kind` text NOT NULL,
	`recipient` text NOT NULL,
	`recipient_key` text NOT NULL,
	`message_id` text NOT NULL,
	`subject` text NOT NULL,
	`text` text NOT NULL,
	`html` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`finished_at` integer,
	`last_error` text, `caused_by` integer,
	CONSTRAINT "mails_state" CHECK("state" IN ('waiting','sent','refused','expired')),
	CONSTRAINT "mails_finished" CHECK(("finished_at" IS NULL) = ("state" = 'waiting'))
) STRICT;

CREATE INDEX `mails_waiting` ON `mails` (`recipient_key`,`id`) WHERE finished_at IS NULL;

CREATE INDEX `mails_due` ON `mails` (`due_at`) WHERE finished_at IS NULL;

CREATE INDEX `mails_expiry` ON `mails` (`expires_at`) WHERE finished_at IS NULL;

CREATE INDEX `mails_recipient` ON `mails` (`recipient_key`,`created_at`);

CREATE INDEX `mails_account` ON `mails` (`account_id`,`created_at`) WHERE account_id IS NOT NULL;

CREATE INDEX `mails_done` ON `mails` (`finished_at`) WHERE finished_at IS NOT NULL;

CREATE TABLE `password_resets` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`token_hash` blob NOT NULL,
	`basis` blob NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `password_resets_token` ON `password_resets` (`token_hash`);

CREATE TABLE `reset_requests` (
	`email_key` text PRIMARY KEY NOT NULL,
	`asked_at` integer NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX `reset_requests_age` ON `reset_requests` (`asked_at`);

CREATE TABLE `oidc_identities` (
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`user_id` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`issuer`, `subject`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `oidc_identities_user` ON `oidc_identities` (`user_id`);

CREATE TRIGGER `users_signed_in` AFTER INSERT ON `sessions`
BEGIN
	UPDATE `users` SET last_active_at = NEW.last_seen_at
	WHERE id = NEW.user_id AND (last_active_at IS NULL OR last_active_at < NEW.last_seen_at);
END;

CREATE TRIGGER `users_seen` AFTER UPDATE OF `last_seen_at` ON `sessions`
BEGIN
	UPDATE `users` SET last_active_at = NEW.last_seen_at
	WHERE id = NEW.user_id AND (last_active_at IS NULL OR last_active_at < NEW.last_seen_at);
END;

CREATE TRIGGER `users_used_key` AFTER UPDATE OF `last_used_at` ON `api_keys` WHEN NEW.last_used_at IS NOT NULL
BEGIN
	UPDATE `users` SET last_active_at = NEW.last_used_at
	WHERE id = NEW.user_id AND (last_active_at IS NULL OR last_active_at < NEW.last_used_at);
END;

CREATE TABLE `webhooks` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`nonce` blob NOT NULL,
	`former_nonce` blob,
	`former_until` integer,
	`is_active` integer DEFAULT 1 NOT NULL,
	`stopped_because` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`paused_until` integer DEFAULT 0 NOT NULL,
	`waiting` integer DEFAULT 0 NOT NULL,
	`dropped` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `webhooks_public` ON `webhooks` (`public_id`);

CREATE INDEX `webhooks_account` ON `webhooks` (`account_id`);

CREATE TABLE `webhook_deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`webhook_id` integer NOT NULL,
	`event` text NOT NULL,
	`lane` text NOT NULL,
	`body` text NOT NULL,
	`is_head` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`finished_at` integer,
	`last_status` integer,
	`last_error` text,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "webhook_deliveries_state" CHECK("state" IN ('queued','delivered','failed')),
	CONSTRAINT "webhook_deliveries_finished" CHECK(("finished_at" IS NULL) = ("state" = 'queued'))
) STRICT;

CREATE UNIQUE INDEX `webhook_deliveries_public` ON `webhook_deliveries` (`public_id`);

CREATE INDEX `webhook_deliveries_webhook` ON `webhook_deliveries` (`webhook_id`,`id`);

CREATE INDEX `webhook_deliveries_lane` ON `webhook_deliveries` (`webhook_id`,`lane`,`id`) WHERE finished_at IS NULL;

CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`webhook_id`,`due_at`,`id`) WHERE is_head = 1;

CREATE INDEX `webhook_deliveries_age` ON `webhook_deliveries` (`created_at`);

CREATE TABLE `findings` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`kind` text NOT NULL,
	`digest` blob,
	`size_bytes` integer,
	`detail` text NOT NULL,
	`found_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`told_at` integer,
	`resolved_at` integer,
	`resolution` text,
	CONSTRAINT "findings_kind" CHECK("kind" IN ('damaged','missing','unreadable','database')),
	CONSTRAINT "findings_digest" CHECK(("kind" = 'database') = ("digest" IS NULL)),
	CONSTRAINT "findings_resolved" CHECK(("resolved_at" IS NULL) = ("resolution" IS NULL)),
	CONSTRAINT "findings_resolution" CHECK("resolution" IN ('healed','removed'))
) STRICT;

CREATE UNIQUE INDEX `findings_public` ON `findings` (`public_id`);

CREATE UNIQUE INDEX `findings_open` ON `findings` (coalesce(digest, x'')) WHERE resolved_at IS NULL;

CREATE INDEX `blobs_reading` ON `blobs` (coalesce(verified_at, created_at),`id`) WHERE damaged_at IS NULL;

CREATE INDEX `blobs_damaged` ON `blobs` (`damaged_at`,`id`) WHERE damaged_at IS NOT NULL;

CREATE TRIGGER `findings_healed` AFTER UPDATE OF `damaged_at` ON `blobs` WHEN OLD.damaged_at IS NOT NULL AND NEW.damaged_at IS NULL
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, NEW.touched_at, coalesce(NEW.verified_at, 0)), resolution = 'healed'
	WHERE coalesce(digest, x'') = NEW.digest AND resolved_at IS NULL;
END;

CREATE TRIGGER `findings_removed` AFTER DELETE ON `blobs` WHEN OLD.damaged_at IS NOT NULL
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, CAST(unixepoch('subsec') * 1000 AS INTEGER)), resolution = 'removed'
	WHERE coalesce(digest, x'') = OLD.digest AND resolved_at IS NULL;
END;

CREATE TABLE `store_journal` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`number` integer NOT NULL,
	`seq` integer NOT NULL,
	`full_bytes` integer NOT NULL,
	`later_bytes` integer NOT NULL,
	`epoch` text NOT NULL
) STRICT;

CREATE TABLE `store_journal_again` (
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`times` integer DEFAULT 1 NOT NULL,
	`gone` text,
	PRIMARY KEY(`account_id`, `node_id`)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER `store_journal_version_gone` AFTER DELETE ON `versions`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = OLD.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_out_of_trash` AFTER DELETE ON `trash`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id, gone) SELECT account_id, id, public_id FROM `nodes` WHERE id = OLD.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1, gone = excluded.gone;
END;

CREATE TRIGGER `store_journal_user_made` AFTER INSERT ON `users`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_user_changed` AFTER UPDATE OF `email`, `name`, `role`, `plan`, `disabled_at`, `settings` ON `users`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_quota_changed` AFTER UPDATE OF `quota_bytes` ON `accounts`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TABLE `remote_blobs` (
	`digest` blob PRIMARY KEY NOT NULL,
	`size_bytes` integer NOT NULL,
	`stored_at` integer NOT NULL,
	`verified_at` integer,
	`used_at` integer,
	`leaving_at` integer, `etag` text, `damaged_at` integer,
	CONSTRAINT "remote_blobs_digest" CHECK(length("remote_blobs"."digest") = 32)
) STRICT, WITHOUT ROWID;

CREATE INDEX `remote_blobs_local` ON `remote_blobs` (`used_at`,`size_bytes`) WHERE used_at IS NOT NULL;

CREATE TABLE `daily_samples` (
	`day` integer PRIMARY KEY NOT NULL,
	`sampled_at` integer NOT NULL,
	`users` integer NOT NULL,
	`active_users` integer NOT NULL,
	`files` integer NOT NULL,
	`folders` integer NOT NULL,
	`used_bytes` integer NOT NULL,
	`versions_bytes` integer NOT NULL,
	`trash_bytes` integer NOT NULL,
	`contents` integer NOT NULL,
	`stored_bytes` integer NOT NULL,
	`disk_free_bytes` integer NOT NULL,
	`disk_total_bytes` integer NOT NULL,
	`uploads` integer NOT NULL,
	`uploaded_bytes` integer NOT NULL,
	`downloads` integer NOT NULL,
	`downloaded_bytes` integer NOT NULL
) STRICT;

CREATE TABLE `photos` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`account_id` integer NOT NULL,
	`parent_id` integer NOT NULL,
	`day` integer NOT NULL,
	`taken_at` integer NOT NULL,
	`offset_minutes` integer,
	`is_video` integer NOT NULL
, `place_id` integer) STRICT;

CREATE INDEX `photos_taken` ON `photos` (`account_id`,`day`,`taken_at`,`node_id`,`parent_id`,`is_video`);

CREATE INDEX `trash_folders` ON `trash` (`account_id`) WHERE `folders` > 0;

CREATE TABLE `photo_fill` (
	`id` integer PRIMARY KEY NOT NULL,
	`next_id` integer NOT NULL,
	`until_id` integer NOT NULL
) STRICT;

CREATE TABLE `photos_again` (
	`digest` blob PRIMARY KEY NOT NULL,
	`after_account_id` integer NOT NULL,
	`after_node_id` integer NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER `photos_added` AFTER INSERT ON `nodes`
WHEN NEW.kind = 1 AND (NEW.media_type LIKE 'image/%' OR NEW.media_type LIKE 'video/%')
BEGIN
	INSERT INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = NEW.id;
END;

CREATE TRIGGER `photos_changed` AFTER UPDATE OF `parent_id`, `account_id`, `media_type`, `blob_id`, `captured_at`, `file_modified_at` ON `nodes`
WHEN NEW.kind = 1 AND (NEW.media_type LIKE 'image/%' OR NEW.media_type LIKE 'video/%' OR OLD.media_type LIKE 'image/%' OR OLD.media_type LIKE 'video/%')
	AND (NEW.parent_id IS NOT OLD.parent_id OR NEW.account_id <> OLD.account_id OR NEW.media_type IS NOT OLD.media_type
		OR NEW.blob_id IS NOT OLD.blob_id OR NEW.captured_at IS NOT OLD.captured_at
		OR NEW.file_modified_at IS NOT OLD.file_modified_at)
BEGIN
	DELETE FROM `photos` WHERE node_id = NEW.id;
	INSERT INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = NEW.id;
END;

CREATE TRIGGER `photos_removed` AFTER DELETE ON `nodes`
WHEN OLD.kind = 1 AND (OLD.media_type LIKE 'image/%' OR OLD.media_type LIKE 'video/%')
BEGIN
	DELETE FROM `photos` WHERE node_id = OLD.id;
END;

CREATE TRIGGER `photos_told` AFTER INSERT ON `media_info`
BEGIN
	INSERT OR REPLACE INTO `photos` SELECT s.* FROM (
		SELECT n.id FROM `blobs` b CROSS JOIN `nodes` n INDEXED BY `nodes_blob` ON n.blob_id = b.id
		WHERE b.digest = NEW.digest ORDER BY n.account_id, n.id LIMIT 100
	) n CROSS JOIN `photo_sources` s ON s.node_id = n.id;
	INSERT OR REPLACE INTO `photos_again` SELECT NEW.digest, n.account_id, n.id
		FROM `blobs` b CROSS JOIN `nodes` n INDEXED BY `nodes_blob` ON n.blob_id = b.id
		WHERE b.digest = NEW.digest ORDER BY n.account_id, n.id LIMIT 1 OFFSET 99;
END;

CREATE TABLE `tus_uploads` (
	`upload_id` integer PRIMARY KEY NOT NULL,
	`sender_id` integer,
	`share_id` text,
	`kind` text NOT NULL,
	`parts` text,
	`offset_bytes` integer DEFAULT 0 NOT NULL,
	`is_length_known` integer NOT NULL,
	`metadata` text NOT NULL,
	FOREIGN KEY (`upload_id`) REFERENCES `uploads`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`sender_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "tus_uploads_offset" CHECK(offset_bytes >= 0),
	CONSTRAINT "tus_uploads_sender" CHECK((sender_id IS NULL) <> (share_id IS NULL))
) STRICT;

CREATE INDEX `tus_uploads_sender` ON `tus_uploads` (`sender_id`) WHERE sender_id IS NOT NULL;

CREATE INDEX `users_email_folded` ON `users` (`email_folded`) WHERE email_folded IS NOT NULL;

CREATE INDEX `users_email_skeleton` ON `users` (`email_skeleton`) WHERE email_skeleton IS NOT NULL;

CREATE INDEX `users_email_forms` ON `users` (`email_forms`);

CREATE INDEX `users_admins` ON `users` (`id`) WHERE role = 'admin';

CREATE TABLE `email_confirmations` (
	`token_hash` blob PRIMARY KEY NOT NULL,
	`user_id` integer NOT NULL,
	`email_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `email_confirmations_user` ON `email_confirmations` (`user_id`,`created_at`);

CREATE INDEX `email_confirmations_email` ON `email_confirmations` (`email_key`,`created_at`);

CREATE INDEX `email_confirmations_age` ON `email_confirmations` (`created_at`);

CREATE INDEX `push_targets_token` ON `push_targets` (`token`) WHERE token IS NOT NULL;

CREATE INDEX `remote_blobs_damaged` ON `remote_blobs` (`digest`) WHERE damaged_at IS NOT NULL;

CREATE INDEX `remote_blobs_reading` ON `remote_blobs` (coalesce(verified_at, stored_at),`digest`) WHERE used_at IS NULL AND leaving_at IS NULL;

CREATE TRIGGER `findings_object_stored` AFTER INSERT ON `remote_blobs`
WHEN NOT EXISTS (SELECT 1 FROM `blobs` WHERE digest = NEW.digest AND damaged_at IS NOT NULL)
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, NEW.stored_at), resolution = 'healed'
	WHERE coalesce(digest, x'') = NEW.digest AND resolved_at IS NULL;
END;

CREATE TRIGGER `findings_object_healed` AFTER UPDATE OF `damaged_at` ON `remote_blobs`
WHEN OLD.damaged_at IS NOT NULL AND NEW.damaged_at IS NULL
	AND NOT EXISTS (SELECT 1 FROM `blobs` WHERE digest = NEW.digest AND damaged_at IS NOT NULL)
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, NEW.stored_at, coalesce(NEW.verified_at, 0)), resolution = 'healed'
	WHERE coalesce(digest, x'') = NEW.digest AND resolved_at IS NULL;
END;

CREATE TRIGGER `findings_object_removed` AFTER DELETE ON `blobs` WHEN OLD.damaged_at IS NULL
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, CAST(unixepoch('subsec') * 1000 AS INTEGER)), resolution = 'removed'
	WHERE coalesce(digest, x'') = OLD.digest AND resolved_at IS NULL;
END;

CREATE TABLE `ended_shares` (
	`public_id` text PRIMARY KEY NOT NULL,
	`ended_at` integer NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER `store_journal_user_confirmed` AFTER UPDATE OF `email_unconfirmed_since` ON `users`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE INDEX `users_unconfirmed` ON `users` (`id`) WHERE email_unconfirmed_since IS NOT NULL;

CREATE INDEX `nodes_file_at` ON `nodes` (`parent_id`,`kind`,`file_at`);

CREATE INDEX `folders_unfilled` ON `folders` (`node_id`) WHERE bytes IS NULL;

CREATE TABLE `changed_folders` (
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	PRIMARY KEY(`account_id`, `node_id`)
) STRICT, WITHOUT ROWID;

CREATE TABLE `app_passwords` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`user_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`name` text NOT NULL,
	`password_hash` blob NOT NULL,
	`can_write` integer NOT NULL,
	`folder_id` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`last_used_at` integer,
	`last_address` text,
	`last_client` text,
	`revoked_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `app_passwords_public` ON `app_passwords` (`public_id`);

CREATE UNIQUE INDEX `app_passwords_hash` ON `app_passwords` (`password_hash`);

CREATE INDEX `app_passwords_user` ON `app_passwords` (`user_id`, `id`);

CREATE INDEX `app_passwords_revoked` ON `app_passwords` (`revoked_at`) WHERE revoked_at IS NOT NULL;

CREATE TABLE `former_emails` (
	`user_id` integer NOT NULL,
	`email_key` text NOT NULL,
	`changed_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `email_key`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE TABLE `locks` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`token` text NOT NULL,
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`created_by` integer NOT NULL,
	`program` text,
	`owner_xml` text,
	`is_exclusive` integer NOT NULL,
	`is_deep` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `locks_public` ON `locks` (`public_id`);

CREATE UNIQUE INDEX `locks_token` ON `locks` (`token`);

CREATE INDEX `locks_node` ON `locks` (`node_id`);

CREATE INDEX `locks_account` ON `locks` (`account_id`,`expires_at`);

CREATE INDEX `locks_expiry` ON `locks` (`expires_at`);

CREATE TABLE `node_properties` (
	`node_id` integer NOT NULL,
	`namespace` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`node_id`, `namespace`, `name`),
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE TABLE `login_flows` (
	`id` integer PRIMARY KEY NOT NULL,
	`token_hash` blob NOT NULL,
	`poll_hash` blob,
	`program` text NOT NULL,
	`client_address` text NOT NULL,
	`address_key` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`user_id` integer,
	`options` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "login_flows_agreed" CHECK((user_id IS NULL) = (options IS NULL))
) STRICT;

CREATE UNIQUE INDEX `login_flows_token` ON `login_flows` (`token_hash`);

CREATE UNIQUE INDEX `login_flows_poll` ON `login_flows` (`poll_hash`) WHERE poll_hash IS NOT NULL;

CREATE INDEX `login_flows_address` ON `login_flows` (`address_key`);

CREATE INDEX `login_flows_expiry` ON `login_flows` (`expires_at`);

CREATE INDEX `login_flows_user` ON `login_flows` (`user_id`) WHERE user_id IS NOT NULL;

CREATE TABLE `client_chunks` (
	`upload_id` integer NOT NULL,
	`number` integer NOT NULL,
	`name` text NOT NULL,
	`file` text NOT NULL,
	`offset_bytes` integer NOT NULL,
	`size_bytes` integer NOT NULL,
	PRIMARY KEY(`upload_id`, `number`),
	FOREIGN KEY (`upload_id`) REFERENCES `uploads`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "client_chunks_bytes" CHECK(offset_bytes >= 0 AND size_bytes >= 0)
) STRICT;

CREATE TABLE "audit" (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` integer NOT NULL,
	`user_id` text,
	`email` text,
	`via` text NOT NULL,
	`via_name` text,
	`action` text NOT NULL,
	`subject_id` text,
	`subject_email` text,
	`target_type` text,
	`target_id` text,
	`outcome` text NOT NULL,
	`reason` text,
	`client_address` text,
	`user_agent` text,
	`times` integer DEFAULT 1 NOT NULL,
	`details` text DEFAULT '{}' NOT NULL,
	CONSTRAINT "audit_via" CHECK("via" IN ('web','mobile','key','cli','system','none','app')),
	CONSTRAINT "audit_outcome" CHECK("outcome" IN ('done','refused','failed'))
) STRICT;

CREATE INDEX `audit_at` ON `audit` (`at`);

CREATE INDEX `audit_user` ON `audit` (`user_id`,`id`) WHERE user_id IS NOT NULL;

CREATE INDEX `audit_subject` ON `audit` (`subject_id`,`id`) WHERE subject_id IS NOT NULL;

CREATE INDEX `audit_action` ON `audit` (`action`,`id`);

CREATE INDEX `audit_address` ON `audit` (`client_address`,`id`) WHERE client_address IS NOT NULL;

CREATE INDEX `audit_target` ON `audit` (`target_id`,`id`) WHERE target_id IS NOT NULL;

CREATE TRIGGER `audit_is_append_only` BEFORE UPDATE ON `audit`
BEGIN
	SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER `audit_is_retained` BEFORE DELETE ON `audit`
WHEN OLD.at > CAST(unixepoch('subsec') * 1000 AS INTEGER) - coalesce((SELECT CAST(value AS INTEGER) FROM `meta` WHERE key = 'audit.keep_ms'), 31536000000)
BEGIN
	SELECT RAISE(ABORT, 'the audit log is kept for its retention');
END;

CREATE INDEX `nodes_natural` ON `nodes` (`parent_id`,`kind`,`natural_key`,`name`) WHERE natural_key IS NOT NULL;

CREATE INDEX `nodes_unkeyed` ON `nodes` (`parent_id`,`kind`) WHERE natural_key IS NULL;

CREATE TABLE `albums` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`name` text NOT NULL,
	`sort_key` text NOT NULL,
	`description` text DEFAULT '' NOT NULL,
	`cover_id` integer,
	`items` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`modified_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `albums_public` ON `albums` (`public_id`);

CREATE INDEX `albums_name` ON `albums` (`account_id`,`sort_key`,`id`);

CREATE TABLE `album_items` (
	`album_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`position` integer NOT NULL,
	`is_hidden` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`album_id`, `node_id`),
	FOREIGN KEY (`album_id`) REFERENCES `albums`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `album_items_position` ON `album_items` (`album_id`,`position`,`is_hidden`);

CREATE INDEX `album_items_node` ON `album_items` (`node_id`);

CREATE TRIGGER `album_item_added` AFTER INSERT ON `album_items` WHEN NEW.is_hidden = 0
BEGIN
	UPDATE `albums` SET items = items + 1 WHERE id = NEW.album_id;
END;

CREATE TRIGGER `album_item_changed` AFTER UPDATE OF `is_hidden` ON `album_items` WHEN NEW.is_hidden <> OLD.is_hidden
BEGIN
	UPDATE `albums` SET items = items + OLD.is_hidden - NEW.is_hidden WHERE id = NEW.album_id;
END;

CREATE TRIGGER `album_item_removed` AFTER DELETE ON `album_items`
BEGIN
	UPDATE `albums` SET items = items - (1 - OLD.is_hidden) WHERE id = OLD.album_id;
	UPDATE `albums` SET cover_id = NULL WHERE id = OLD.album_id AND cover_id = OLD.node_id;
END;

CREATE TRIGGER `album_file_moved` AFTER UPDATE OF `parent_id` ON `nodes`
WHEN NEW.kind = 1 AND (ifnull(NEW.parent_id, 0) > 0) <> (ifnull(OLD.parent_id, 0) > 0)
BEGIN
	UPDATE `album_items` SET is_hidden = ifnull(NEW.parent_id, 0) <= 0 WHERE node_id = NEW.id;
END;

CREATE TRIGGER `album_file_removed` AFTER DELETE ON `nodes` WHEN OLD.kind = 1
BEGIN
	DELETE FROM `album_items` WHERE node_id = OLD.id;
END;

CREATE TRIGGER `store_journal_album_made` AFTER INSERT ON `albums`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.account_id, -NEW.id)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_album_changed` AFTER UPDATE OF `name`, `description`, `cover_id`, `modified_at` ON `albums`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.account_id, -NEW.id)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_album_gone` AFTER DELETE ON `albums`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id, gone) VALUES (OLD.account_id, -OLD.id, OLD.public_id)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1, gone = excluded.gone;
END;

CREATE TABLE "shares" (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer DEFAULT 0 NOT NULL,
	`node_id` integer,
	`album_id` integer,
	`kind` text NOT NULL,
	`nonce` blob NOT NULL,
	`token_hash` blob NOT NULL,
	`created_at` integer NOT NULL,
	`downloaded_at` integer,
	`label` text,
	`expires_at` integer,
	`password_hash` text,
	`grant_epoch` integer DEFAULT 0 NOT NULL,
	`max_downloads` integer,
	`downloads` integer DEFAULT 0 NOT NULL,
	`views` integer DEFAULT 0 NOT NULL,
	`last_accessed_at` integer,
	`pinned_version` integer,
	`hides_location` integer DEFAULT 0 NOT NULL,
	`max_upload_bytes` integer,
	`uploads` integer DEFAULT 0 NOT NULL,
	`uploaded_bytes` integer DEFAULT 0 NOT NULL,
	`max_uploads_per_address` integer,
	`guesses_notified_at` integer,
	`can_write` integer DEFAULT 0 NOT NULL,
	`shows_versions` integer,
	`recipient_email_key` text,
	`recipient_id` integer, `group_id` integer REFERENCES `groups`(`id`) ON DELETE cascade,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`album_id`) REFERENCES `albums`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`recipient_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "shares_target" CHECK((node_id IS NULL) <> (album_id IS NULL))
) STRICT;

CREATE TABLE "share_openers" (
	`share_id` integer NOT NULL,
	`address_hash` blob NOT NULL,
	`opened_at` integer NOT NULL,
	PRIMARY KEY(`share_id`, `address_hash`),
	FOREIGN KEY (`share_id`) REFERENCES "shares"(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `share_openers_age` ON `share_openers` (`opened_at`);

CREATE UNIQUE INDEX `shares_public` ON `shares` (`public_id`);

CREATE UNIQUE INDEX `shares_token` ON `shares` (`token_hash`);

CREATE INDEX `shares_node` ON `shares` (`node_id`);

CREATE INDEX `shares_album` ON `shares` (`album_id`) WHERE album_id IS NOT NULL;

CREATE INDEX `shares_account` ON `shares` (`account_id`,`id`);

CREATE INDEX `shares_recipient` ON `shares` (`recipient_id`) WHERE recipient_id IS NOT NULL;

CREATE INDEX `shares_waiting` ON `shares` (`recipient_email_key`) WHERE recipient_email_key IS NOT NULL;

CREATE INDEX `shares_expiry` ON `shares` (`expires_at`) WHERE expires_at IS NOT NULL;

CREATE TRIGGER `store_journal_share_made` AFTER INSERT ON `shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
		UNION ALL SELECT account_id, -id FROM `albums` WHERE id = NEW.album_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_share_changed` AFTER UPDATE OF `label`, `expires_at`, `password_hash`, `grant_epoch`, `max_downloads`, `pinned_version`,
	`hides_location`, `max_upload_bytes`, `can_write`, `recipient_email_key`, `recipient_id` ON `shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
		UNION ALL SELECT account_id, -id FROM `albums` WHERE id = NEW.album_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_share_gone` AFTER DELETE ON `shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = OLD.node_id
		UNION ALL SELECT account_id, -id FROM `albums` WHERE id = OLD.album_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_share_ended` AFTER DELETE ON `shares`
BEGIN
	INSERT OR IGNORE INTO `ended_shares` (public_id, ended_at) VALUES (OLD.public_id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;

CREATE TRIGGER `store_journal_share_used` AFTER UPDATE OF `downloads`, `uploaded_bytes` ON `shares`
WHEN NEW.max_downloads IS NOT NULL OR NEW.max_upload_bytes IS NOT NULL
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
		UNION ALL SELECT account_id, -id FROM `albums` WHERE id = NEW.album_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TABLE `favorites` (
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	PRIMARY KEY(`account_id`, `node_id`),
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `favorites_node` ON `favorites` (`node_id`);

CREATE TRIGGER `store_journal_favorite_added` AFTER INSERT ON `favorites`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = NEW.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_favorite_removed` AFTER DELETE ON `favorites`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT account_id, id FROM `nodes` WHERE id = OLD.node_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE INDEX `media_info_reading` ON `media_info` (`reading`);

CREATE INDEX `media_info_content` ON `media_info` (`content_id`) WHERE content_id IS NOT NULL;

CREATE TABLE `live_pairs` (
	`photo_id` integer PRIMARY KEY NOT NULL,
	`video_id` integer NOT NULL
, `account_id` integer DEFAULT 0 NOT NULL, `is_apart` integer DEFAULT 0 NOT NULL, `hides_video` integer DEFAULT 1 NOT NULL) STRICT;

CREATE UNIQUE INDEX `live_pairs_video` ON `live_pairs` (`video_id`);

CREATE TABLE `live_queue` (
	`node_id` integer PRIMARY KEY NOT NULL
) STRICT;

CREATE TRIGGER `live_read` AFTER INSERT ON `media_info` WHEN NEW.failure IS NULL
BEGIN
	INSERT OR IGNORE INTO `live_queue` SELECT n.id FROM `blobs` b CROSS JOIN `nodes` n INDEXED BY `nodes_blob` ON n.blob_id = b.id
		WHERE b.digest = NEW.digest ORDER BY n.account_id, n.id LIMIT 100;
END;

CREATE TRIGGER `live_added` AFTER INSERT ON `nodes`
WHEN NEW.kind = 1 AND (NEW.media_type LIKE 'image/%' OR NEW.media_type LIKE 'video/%')
BEGIN
	INSERT OR IGNORE INTO `live_queue` SELECT NEW.id FROM `blobs` b CROSS JOIN `media_info` m ON m.digest = b.digest
		WHERE b.id = NEW.blob_id;
END;

CREATE TRIGGER `live_changed` AFTER UPDATE OF `parent_id`, `account_id`, `name`, `media_type`, `blob_id`, `captured_at` ON `nodes`
WHEN NEW.kind = 1 AND (NEW.media_type LIKE 'image/%' OR NEW.media_type LIKE 'video/%' OR OLD.media_type LIKE 'image/%' OR OLD.media_type LIKE 'video/%')
	AND (NEW.parent_id IS NOT OLD.parent_id OR NEW.account_id <> OLD.account_id OR NEW.name <> OLD.name
		OR NEW.media_type IS NOT OLD.media_type OR NEW.blob_id IS NOT OLD.blob_id OR NEW.captured_at IS NOT OLD.captured_at)
BEGIN
	INSERT OR IGNORE INTO `live_queue` (node_id) VALUES (NEW.id);
END;

CREATE TRIGGER `live_removed` AFTER DELETE ON `nodes` WHEN OLD.kind = 1
BEGIN
	DELETE FROM `live_pairs` WHERE photo_id = OLD.id OR video_id = OLD.id;
	DELETE FROM `live_queue` WHERE node_id = OLD.id;
END;

CREATE TRIGGER `live_parted` AFTER DELETE ON `live_pairs`
BEGIN
	INSERT OR REPLACE INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = OLD.video_id;
	INSERT OR IGNORE INTO `live_queue` SELECT id FROM `nodes` WHERE id IN (OLD.photo_id, OLD.video_id);
END;

CREATE TABLE `places` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`region` text,
	`country` text,
	`latitude` real,
	`longitude` real
) STRICT;

CREATE INDEX `photos_place` ON `photos` (`account_id`,`place_id`,`day`,`taken_at`,`node_id`,`parent_id`,`is_video`) WHERE place_id IS NOT NULL;

CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`changed_at` integer NOT NULL,
	`changed_by` text NOT NULL
) STRICT;

CREATE INDEX `live_pairs_apart` ON `live_pairs` (`account_id`,`photo_id`) WHERE is_apart = 1;

CREATE TABLE `live_rechecks` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`after_photo_id` integer NOT NULL
) STRICT;

CREATE TRIGGER `live_paired` AFTER INSERT ON `live_pairs` WHEN NEW.hides_video = 1
BEGIN
	DELETE FROM `photos` WHERE node_id = NEW.video_id;
END;

CREATE TRIGGER `live_hidden` AFTER UPDATE OF `hides_video` ON `live_pairs` WHEN NEW.hides_video <> OLD.hides_video
BEGIN
	DELETE FROM `photos` WHERE node_id = NEW.video_id;
	INSERT INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = NEW.video_id;
END;

CREATE TRIGGER `live_folder_changed` AFTER UPDATE OF `parent_id` ON `nodes`
WHEN NEW.kind = 0 AND (ifnull(NEW.parent_id, 0) > 0) <> (ifnull(OLD.parent_id, 0) > 0)
BEGIN
	INSERT OR REPLACE INTO `live_rechecks` SELECT NEW.account_id, 0
		WHERE EXISTS (SELECT 1 FROM `live_pairs` INDEXED BY `live_pairs_apart` WHERE account_id = NEW.account_id AND is_apart = 1);
END;

CREATE UNIQUE INDEX `devices_session_origin` ON `devices` (`session_origin`) WHERE session_origin IS NOT NULL;

CREATE TRIGGER `sessions_end_browser_push` AFTER DELETE ON `sessions`
BEGIN
	DELETE FROM devices WHERE session_origin = coalesce(OLD.origin_id, OLD.public_id)
		AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.user_id = OLD.user_id AND coalesce(s.origin_id, s.public_id) = devices.session_origin);
END;

CREATE TABLE `groups` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_id` text NOT NULL,
	`name` text NOT NULL,
	`name_key` text NOT NULL,
	`created_at` integer NOT NULL
) STRICT;

CREATE UNIQUE INDEX `groups_public` ON `groups` (`public_id`);

CREATE UNIQUE INDEX `groups_name` ON `groups` (`name_key`);

CREATE TABLE `group_members` (
	`group_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`group_id`, `user_id`),
	FOREIGN KEY (`group_id`) REFERENCES `groups`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `group_members_user` ON `group_members` (`user_id`);

CREATE INDEX `shares_group` ON `shares` (`group_id`) WHERE group_id IS NOT NULL;

CREATE TABLE `hidden_shares` (
	`share_id` integer NOT NULL,
	`user_id` integer NOT NULL,
	PRIMARY KEY(`share_id`, `user_id`),
	FOREIGN KEY (`share_id`) REFERENCES `shares`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `hidden_shares_user` ON `hidden_shares` (`user_id`);

CREATE TRIGGER `store_journal_member_added` AFTER INSERT ON `group_members`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.user_id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_member_removed` AFTER DELETE ON `group_members`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT id, 0 FROM `users` WHERE id = OLD.user_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_group_renamed` AFTER UPDATE OF `name` ON `groups`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT user_id, 0 FROM `group_members` WHERE group_id = NEW.id
		UNION SELECT n.account_id, n.id FROM `shares` s JOIN `nodes` n ON n.id = s.node_id WHERE s.group_id = NEW.id
		UNION SELECT a.account_id, -a.id FROM `shares` s JOIN `albums` a ON a.id = s.album_id WHERE s.group_id = NEW.id
	ORDER BY 1
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_share_hidden` AFTER INSERT ON `hidden_shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id)
		SELECT n.account_id, n.id FROM `shares` s JOIN `nodes` n ON n.id = s.node_id WHERE s.id = NEW.share_id
		UNION ALL SELECT a.account_id, -a.id FROM `shares` s JOIN `albums` a ON a.id = s.album_id WHERE s.id = NEW.share_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_share_shown` AFTER DELETE ON `hidden_shares`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id)
		SELECT n.account_id, n.id FROM `shares` s JOIN `nodes` n ON n.id = s.node_id WHERE s.id = OLD.share_id
		UNION ALL SELECT a.account_id, -a.id FROM `shares` s JOIN `albums` a ON a.id = s.album_id WHERE s.id = OLD.share_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_membership_ended` AFTER DELETE ON `group_members`
BEGIN
	INSERT OR IGNORE INTO `ended_shares` (public_id, ended_at)
	SELECT g.public_id || '/' || u.public_id || '/' || OLD.added_at, CAST(unixepoch('subsec') * 1000 AS INTEGER)
		FROM `groups` g CROSS JOIN `users` u WHERE g.id = OLD.group_id AND u.id = OLD.user_id;
END;

CREATE TRIGGER `store_journal_group_ended` AFTER DELETE ON `groups`
BEGIN
	INSERT OR IGNORE INTO `ended_shares` (public_id, ended_at) VALUES (OLD.public_id, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;

CREATE TABLE `group_notices` (
	`share_id` integer PRIMARY KEY NOT NULL,
	`after_user_id` integer NOT NULL,
	FOREIGN KEY (`share_id`) REFERENCES `shares`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE INDEX `users_people` ON `users` (`name_key`,`id`) WHERE disabled_at IS NULL AND email_unconfirmed_since IS NULL;

CREATE TABLE `opened_files` (
	`account_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`opened_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `node_id`),
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `opened_files_node` ON `opened_files` (`node_id`);

CREATE TABLE `welcomes` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`token_hash` blob NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `welcomes_token` ON `welcomes` (`token_hash`);

CREATE TRIGGER `sessions_end_welcome` AFTER INSERT ON `sessions`
BEGIN
	DELETE FROM welcomes WHERE user_id = NEW.user_id;
END;

CREATE TRIGGER `users_end_welcome` AFTER UPDATE OF `password_hash` ON `users` WHEN NEW.password_hash <> OLD.password_hash
BEGIN
	DELETE FROM welcomes WHERE user_id = NEW.id;
END;

CREATE TRIGGER `users_expire_welcome` AFTER UPDATE OF `disabled_at`, `email_key` ON `users`
	WHEN NEW.disabled_at IS NOT NULL OR NEW.email_key <> OLD.email_key
BEGIN
	UPDATE welcomes SET expires_at = 0 WHERE user_id = NEW.id;
END;

CREATE TABLE `avatars` (
	`user_id` integer PRIMARY KEY NOT NULL,
	`digest` blob NOT NULL,
	`large` blob NOT NULL,
	`small` blob NOT NULL,
	`changed_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE TRIGGER `users_delete_avatar` AFTER UPDATE OF `email` ON `users` WHEN NEW.email = ''
BEGIN
	DELETE FROM avatars WHERE user_id = NEW.id;
END;

CREATE TRIGGER `store_journal_avatar_added` AFTER INSERT ON `avatars`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.user_id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_avatar_changed` AFTER UPDATE ON `avatars`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) VALUES (NEW.user_id, 0)
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE TRIGGER `store_journal_avatar_removed` AFTER DELETE ON `avatars`
BEGIN
	INSERT INTO `store_journal_again` (account_id, node_id) SELECT id, 0 FROM `users` WHERE id = OLD.user_id
	ON CONFLICT (account_id, node_id) DO UPDATE SET times = times + 1;
END;

CREATE INDEX `mails_causer` ON `mails` (`caused_by`,`created_at`) WHERE caused_by IS NOT NULL;

CREATE TABLE `import_runs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`account_id` integer NOT NULL,
	`kind` text NOT NULL,
	`origin` text NOT NULL,
	`source` text NOT NULL,
	`request` text NOT NULL,
	`state` text NOT NULL,
	`message` text,
	`counts` text NOT NULL,
	`created_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;

CREATE UNIQUE INDEX `import_runs_public` ON `import_runs` (`public_id`);

CREATE INDEX `import_runs_account` ON `import_runs` (`account_id`,`id`);

CREATE TABLE `import_problems` (
	`run_id` integer NOT NULL,
	`number` integer NOT NULL,
	`name` text NOT NULL,
	`reason` text NOT NULL,
	`message` text NOT NULL,
	PRIMARY KEY(`run_id`, `number`),
	FOREIGN KEY (`run_id`) REFERENCES `import_runs`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE TABLE `import_items` (
	`account_id` integer NOT NULL,
	`key` blob NOT NULL,
	`version` text NOT NULL,
	`node_id` integer NOT NULL,
	`digest` blob NOT NULL,
	PRIMARY KEY(`account_id`, `key`),
	FOREIGN KEY (`account_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;

CREATE INDEX `import_items_digest` ON `import_items` (`account_id`,`digest`);

CREATE TABLE `file_places` (
	`node_id` integer PRIMARY KEY NOT NULL,
	`place_id` integer NOT NULL
) STRICT;

CREATE TABLE `place_queue` (
	`node_id` integer PRIMARY KEY NOT NULL
) STRICT;

CREATE TRIGGER `location_added` AFTER INSERT ON `nodes`
WHEN NEW.kind = 1 AND NEW.metadata IS NOT NULL AND json_extract(NEW.metadata, '$.location') IS NOT NULL
BEGIN
	INSERT OR IGNORE INTO `place_queue` VALUES (NEW.id);
END;

CREATE TRIGGER `location_changed` AFTER UPDATE OF `metadata` ON `nodes`
WHEN NEW.kind = 1 AND NEW.metadata IS NOT OLD.metadata
	AND json_extract(ifnull(NEW.metadata, '{}'), '$.location') IS NOT json_extract(ifnull(OLD.metadata, '{}'), '$.location')
BEGIN
	INSERT OR IGNORE INTO `place_queue` VALUES (NEW.id);
END;

CREATE TRIGGER `location_removed` AFTER DELETE ON `nodes` WHEN OLD.kind = 1 AND OLD.metadata IS NOT NULL
BEGIN
	DELETE FROM `place_queue` WHERE node_id = OLD.id;
	DELETE FROM `file_places` WHERE node_id = OLD.id;
END;

CREATE VIEW `photo_sources` AS
WITH told AS (
	SELECT n.id, n.account_id, n.parent_id, n.blob_id, n.media_type LIKE 'video/%' AS is_video, n.created_at,
		ifnull(m.place_id, f.place_id) AS place_id,
		CASE
			WHEN unixepoch(substr(n.captured_at, 1, 19)) IS NOT NULL THEN n.captured_at
			WHEN unixepoch(substr(m.taken_at, 1, 19)) IS NOT NULL THEN m.taken_at
			WHEN unixepoch(substr(n.file_modified_at, 1, 19)) IS NOT NULL THEN n.file_modified_at
		END AS told
	FROM nodes n
	LEFT JOIN blobs b ON b.id = n.blob_id
	LEFT JOIN media_info m ON m.digest = b.digest
	LEFT JOIN file_places f ON f.node_id = n.id
	WHERE n.kind = 1 AND n.parent_id > 0 AND (n.media_type LIKE 'image/%' OR n.media_type LIKE 'video/%')
		AND n.media_type NOT LIKE 'image/svg%' AND n.media_type NOT LIKE 'image/%icon%'
		AND NOT EXISTS (SELECT 1 FROM live_pairs l WHERE l.video_id = n.id AND l.hides_video = 1)
),
timed AS (
	SELECT id, account_id, parent_id, is_video, place_id,
		ifnull(unixepoch(substr(told, 1, 19)) * 1000, created_at) AS taken_at,
		CASE
			WHEN substr(told, -6, 1) = '+' AND substr(told, -3, 1) = ':' THEN
				CAST(substr(told, -5, 2) AS INTEGER) * 60 + CAST(substr(told, -2) AS INTEGER)
			WHEN substr(told, -6, 1) = '-' AND substr(told, -3, 1) = ':' THEN
				- CAST(substr(told, -5, 2) AS INTEGER) * 60 - CAST(substr(told, -2) AS INTEGER)
		END AS offset_minutes
	FROM told
)
SELECT id AS node_id, account_id, parent_id, (taken_at + 62167219200000) / 86400000 - 719528 AS day, taken_at,
	offset_minutes, is_video, place_id
FROM timed;

CREATE TRIGGER `photos_placed` AFTER INSERT ON `file_places`
BEGIN
	INSERT OR REPLACE INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = NEW.node_id;
END;

CREATE TRIGGER `photos_unplaced` AFTER DELETE ON `file_places`
BEGIN
	INSERT OR REPLACE INTO `photos` SELECT * FROM `photo_sources` WHERE node_id = OLD.node_id;
END;

INSERT INTO "meta" VALUES ('audit.keep_ms','31536000000');

INSERT INTO "photo_fill" VALUES (1,1,0);

INSERT INTO "places" VALUES (0,'',NULL,NULL,NULL,NULL);
