CREATE TABLE `audit` (
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
	CONSTRAINT "audit_via" CHECK("via" IN ('web','mobile','key','cli','system','none')),
	CONSTRAINT "audit_outcome" CHECK("outcome" IN ('done','refused','failed'))
) STRICT;
--> statement-breakpoint
CREATE INDEX `audit_at` ON `audit` (`at`);--> statement-breakpoint
CREATE INDEX `audit_user` ON `audit` (`user_id`,`id`) WHERE user_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `audit_subject` ON `audit` (`subject_id`,`id`) WHERE subject_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `audit_action` ON `audit` (`action`,`id`);--> statement-breakpoint
CREATE INDEX `audit_address` ON `audit` (`client_address`,`id`) WHERE client_address IS NOT NULL;--> statement-breakpoint
INSERT INTO `meta` (`key`, `value`) VALUES ('audit.keep_ms', '31536000000');--> statement-breakpoint
CREATE TRIGGER `audit_is_append_only` BEFORE UPDATE ON `audit`
BEGIN
	SELECT RAISE(ABORT, 'the audit log is append-only');
END;
--> statement-breakpoint
CREATE TRIGGER `audit_is_retained` BEFORE DELETE ON `audit`
WHEN OLD.at > CAST(unixepoch('subsec') * 1000 AS INTEGER) - coalesce((SELECT CAST(value AS INTEGER) FROM `meta` WHERE key = 'audit.keep_ms'), 31536000000)
BEGIN
	SELECT RAISE(ABORT, 'the audit log is kept for its retention');
END;
--> statement-breakpoint
ALTER TABLE `users` ADD `name_key` text;--> statement-breakpoint
ALTER TABLE `users` ADD `last_active_at` integer;--> statement-breakpoint
UPDATE `users` SET name_key = lower(name), last_active_at = (SELECT max(last_seen_at) FROM sessions WHERE sessions.user_id = users.id);--> statement-breakpoint
CREATE TRIGGER `users_signed_in` AFTER INSERT ON `sessions`
BEGIN
	UPDATE `users` SET last_active_at = NEW.last_seen_at
	WHERE id = NEW.user_id AND (last_active_at IS NULL OR last_active_at < NEW.last_seen_at);
END;
--> statement-breakpoint
CREATE TRIGGER `users_seen` AFTER UPDATE OF `last_seen_at` ON `sessions`
BEGIN
	UPDATE `users` SET last_active_at = NEW.last_seen_at
	WHERE id = NEW.user_id AND (last_active_at IS NULL OR last_active_at < NEW.last_seen_at);
END;
--> statement-breakpoint
CREATE TRIGGER `users_used_key` AFTER UPDATE OF `last_used_at` ON `api_keys` WHEN NEW.last_used_at IS NOT NULL
BEGIN
	UPDATE `users` SET last_active_at = NEW.last_used_at
	WHERE id = NEW.user_id AND (last_active_at IS NULL OR last_active_at < NEW.last_used_at);
END;
--> statement-breakpoint
ALTER TABLE `invites` ADD `email` text;--> statement-breakpoint
ALTER TABLE `invites` ADD `created_by` integer;--> statement-breakpoint
ALTER TABLE `invites` ADD `used_by` integer;
