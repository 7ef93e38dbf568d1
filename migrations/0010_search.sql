-- The index of words and what follows it (features/search), and what contents tell of themselves (features/media-info).
-- rowid of search_text = account id << 36 | nodes.id. It is filled behind, from the journals; nothing here is written by an upload.
CREATE VIRTUAL TABLE search_text USING fts5(facets, name, tags, description, metadata, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So'");
--> statement-breakpoint
CREATE TABLE `search_cursors` (
	`account_id` integer PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `search_fill` (
	`id` integer PRIMARY KEY NOT NULL,
	`format` integer NOT NULL,
	`next_id` integer NOT NULL,
	`until_id` integer NOT NULL,
	CONSTRAINT "search_fill_one" CHECK("id" = 1)
) STRICT;
--> statement-breakpoint
CREATE TABLE `search_again` (
	`digest` blob PRIMARY KEY NOT NULL,
	`after_account_id` integer DEFAULT 0 NOT NULL,
	`after_node_id` integer DEFAULT 0 NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
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
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `media_info_failures` ON `media_info` (`program`) WHERE failure IS NOT NULL;--> statement-breakpoint
CREATE TABLE `media_queue` (
	`digest` blob PRIMARY KEY NOT NULL,
	`media_type` text,
	`attempts` integer DEFAULT 0 NOT NULL
) STRICT, WITHOUT ROWID;
