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
--> statement-breakpoint
CREATE UNIQUE INDEX `findings_public` ON `findings` (`public_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `findings_open` ON `findings` (coalesce(digest, x'')) WHERE resolved_at IS NULL;--> statement-breakpoint
CREATE INDEX `blobs_reading` ON `blobs` (coalesce(verified_at, created_at),`id`) WHERE damaged_at IS NULL;--> statement-breakpoint
CREATE INDEX `blobs_damaged` ON `blobs` (`damaged_at`,`id`) WHERE damaged_at IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `findings_healed` AFTER UPDATE OF `damaged_at` ON `blobs` WHEN OLD.damaged_at IS NOT NULL AND NEW.damaged_at IS NULL
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, NEW.touched_at, coalesce(NEW.verified_at, 0)), resolution = 'healed'
	WHERE coalesce(digest, x'') = NEW.digest AND resolved_at IS NULL;
END;
--> statement-breakpoint
CREATE TRIGGER `findings_removed` AFTER DELETE ON `blobs` WHEN OLD.damaged_at IS NOT NULL
BEGIN
	UPDATE `findings` SET resolved_at = max(seen_at, CAST(unixepoch('subsec') * 1000 AS INTEGER)), resolution = 'removed'
	WHERE coalesce(digest, x'') = OLD.digest AND resolved_at IS NULL;
END;
