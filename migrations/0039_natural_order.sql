-- Names are also sorted in the natural order, in which "note 2" comes before "note 10". The server computes the keys in the
-- background; they are NULL until then.
ALTER TABLE `nodes` ADD `natural_key` text;
--> statement-breakpoint
CREATE INDEX `nodes_natural` ON `nodes` (`parent_id`,`kind`,`natural_key`,`name`) WHERE natural_key IS NOT NULL;
--> statement-breakpoint
CREATE INDEX `nodes_unkeyed` ON `nodes` (`parent_id`,`kind`) WHERE natural_key IS NULL;
