-- The audit log accepts entries of app passwords. SQLite can't change a CHECK, so the table is copied. Ids
-- continue after the last one, so none is used again.
CREATE TABLE `audit_next` (
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

INSERT INTO `audit_next` (id, at, user_id, email, via, via_name, action, subject_id, subject_email, target_type, target_id, outcome, reason, client_address, user_agent, times, details) SELECT id, at, user_id, email, via, via_name, action, subject_id, subject_email, target_type, target_id, outcome, reason, client_address, user_agent, times, details FROM `audit` ORDER BY id;

DELETE FROM `sqlite_sequence` WHERE name = 'audit_next';

INSERT INTO `sqlite_sequence` (name, seq) SELECT 'audit_next', seq FROM `sqlite_sequence` WHERE name = 'audit';

DROP TABLE `audit`;

ALTER TABLE `audit_next` RENAME TO `audit`;

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
