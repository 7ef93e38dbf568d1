-- A plain address may be registered by devices of several accounts: none of them takes it from another.
DROP INDEX `push_targets_token`;--> statement-breakpoint
CREATE INDEX `push_targets_token` ON `push_targets` (`token`) WHERE token IS NOT NULL;
