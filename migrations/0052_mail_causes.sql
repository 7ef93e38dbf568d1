-- Who caused a mail by sharing, so that one account can't crowd out the mails of others.
ALTER TABLE `mails` ADD COLUMN `caused_by` integer;
--> statement-breakpoint
CREATE INDEX `mails_causer` ON `mails` (`caused_by`,`created_at`) WHERE caused_by IS NOT NULL;
