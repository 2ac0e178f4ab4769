-- The schema that the migrations lead to, as MySQL tells it. Written by TestSchema.

CREATE TABLE `api_keys` (
  `id` varbinary(16) NOT NULL COMMENT 'in the text of the key, lbk_<id>_<secret>',
  `name` varbinary(100) NOT NULL COMMENT 'UTF-8',
  `scope` varbinary(16) NOT NULL COMMENT 'read, write, admin',
  `boards` json NOT NULL COMMENT 'names, and prefixes such as game1-*; none: all boards',
  `requests_per_second` bigint NOT NULL DEFAULT '0' COMMENT '0: what the settings of the server say',
  `rows_per_second` bigint NOT NULL DEFAULT '0' COMMENT '0: what the settings of the server say',
  `secret_hash` binary(32) NOT NULL COMMENT 'SHA-256 of the whole text of the key, which is kept nowhere',
  `previous_hash` binary(32) DEFAULT NULL COMMENT 'of the text before the last rotation',
  `previous_ends_at` datetime(6) DEFAULT NULL COMMENT 'until when that is taken too',
  `expires_at` datetime(6) DEFAULT NULL COMMENT 'NULL: never',
  `revoked_at` datetime(6) DEFAULT NULL COMMENT 'NULL: it was not',
  `last_used_at` datetime(6) DEFAULT NULL COMMENT 'to the minute',
  `created_at` datetime(6) NOT NULL,
  `updated_at` datetime(6) NOT NULL COMMENT 'of the last change but for uses',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `audit` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `logged_at` datetime(6) NOT NULL COMMENT 'database clock, in the transaction of the change',
  `actor` varbinary(128) NOT NULL COMMENT 'id of the key; empty: the service itself',
  `action` varbinary(32) NOT NULL COMMENT 'board.create, … : leaderboard.AuditActions',
  `board` varbinary(64) NOT NULL COMMENT 'its name at the time; empty: none',
  `member` varbinary(64) NOT NULL COMMENT 'empty: none; of an erased member a random name, see erasures',
  `before_json` mediumtext COMMENT 'a JSON object; NULL: nothing',
  `after_json` mediumtext COMMENT 'a JSON object; NULL: nothing',
  `request_id` varbinary(128) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `audit_time` (`logged_at`,`id`),
  KEY `audit_board` (`board`,`logged_at`,`id`,`action`,`actor`),
  KEY `audit_member` (`member`,`logged_at`,`id`,`action`,`actor`,`board`),
  KEY `audit_actor` (`actor`,`logged_at`,`id`,`action`),
  KEY `audit_action` (`action`,`logged_at`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `board_labels` (
  `label` varbinary(64) NOT NULL,
  `value` varbinary(64) NOT NULL,
  `name` varbinary(64) NOT NULL COMMENT 'of the board: boards are selected in this order',
  `board_id` bigint NOT NULL,
  PRIMARY KEY (`label`,`value`,`name`),
  KEY `board_labels_board` (`board_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `boards` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `name` varbinary(64) NOT NULL COMMENT 'unique; a board that is being deleted gives its name up',
  `version` bigint NOT NULL DEFAULT '1' COMMENT 'grows by one with each change of the rules',
  `state` varbinary(16) NOT NULL DEFAULT 'open' COMMENT 'open, deleting',
  `has_hidden` tinyint NOT NULL DEFAULT '0' COMMENT '1: members are or were hidden here, so writers look up who is',
  `rules` json NOT NULL COMMENT 'leaderboard.Rules',
  `created_at` datetime(6) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `boards_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `changes` (
  `period_id` bigint NOT NULL,
  `last_seq` bigint NOT NULL,
  `first_seq` bigint NOT NULL,
  `prev_committed_at` datetime(6) NOT NULL COMMENT 'periods.committed_at before this commit',
  `committed_at` datetime(6) NOT NULL COMMENT 'database clock',
  `entry_count` bigint NOT NULL COMMENT 'visible entries of the period at last_seq',
  `payload` mediumblob NOT NULL COMMENT 'versioned: member, old key, new key per change',
  PRIMARY KEY (`period_id`,`last_seq`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `deliveries` (
  `endpoint_id` bigint NOT NULL,
  `event_id` bigint NOT NULL COMMENT 'outbox.id',
  `state` varbinary(16) NOT NULL COMMENT 'waiting, delivered, failed',
  `event_at` datetime(6) NOT NULL COMMENT 'outbox.created_at',
  `next_at` datetime(6) NOT NULL COMMENT 'while it is waiting: when it is tried',
  `attempt_count` int NOT NULL DEFAULT '0',
  `tried_at` datetime(6) DEFAULT NULL COMMENT 'when the last attempt ended; NULL: there was none',
  `status` int NOT NULL DEFAULT '0' COMMENT 'of the last answer; 0: there was none',
  `error` varchar(200) NOT NULL DEFAULT '' COMMENT 'of the last attempt, in words of the service alone',
  PRIMARY KEY (`endpoint_id`,`event_id`),
  KEY `deliveries_due` (`endpoint_id`,`state`,`next_at`,`event_id`),
  KEY `deliveries_state` (`endpoint_id`,`state`,`event_id`),
  KEY `deliveries_event` (`event_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `derived_boards` (
  `board_id` bigint NOT NULL,
  `step` bigint NOT NULL DEFAULT '0' COMMENT 'grows by one whenever the entries follow the sources',
  `rule_hash` varbinary(32) NOT NULL DEFAULT '' COMMENT 'SHA-256 of the rule that the entries follow; empty: computed from scratch next',
  PRIMARY KEY (`board_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `derived_sources` (
  `board_id` bigint NOT NULL COMMENT 'the derived board',
  `position` int NOT NULL COMMENT 'as the rule lists them, the newest period of each first',
  `source_period_id` bigint NOT NULL COMMENT '0: there is no such period',
  `weight` bigint NOT NULL,
  `seq` bigint NOT NULL COMMENT 'the state of the source that the entries reflect',
  PRIMARY KEY (`board_id`,`position`),
  KEY `derived_sources_period` (`source_period_id`,`seq`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `endpoints` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `name` varbinary(64) NOT NULL,
  `url` varbinary(1000) NOT NULL,
  `kinds` json NOT NULL COMMENT 'of events; none: all',
  `boards` json NOT NULL COMMENT 'names, and prefixes such as game1-*; none: all boards',
  `allow_private` tinyint NOT NULL DEFAULT '0' COMMENT '1: it may have an address that is not public',
  `state` varbinary(16) NOT NULL COMMENT 'on, off, gone',
  `secret` varbinary(100) NOT NULL COMMENT 'signs what is sent, so it cannot be kept as a hash',
  `previous_secret` varbinary(100) DEFAULT NULL COMMENT 'before the last rotation',
  `previous_ends_at` datetime(6) DEFAULT NULL COMMENT 'until when that signs too',
  `low_water` bigint NOT NULL COMMENT 'outbox.id: no event up to here is missing in deliveries, nor will be',
  `created_at` datetime(6) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `endpoints_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `entries` (
  `period_id` bigint NOT NULL COMMENT 'of a hidden entry: the negative id of its period; see the views',
  `member` varbinary(64) NOT NULL,
  `score` bigint NOT NULL COMMENT 'stored: ~score on ascending boards, so that higher is always better',
  `tiebreak` bigint NOT NULL DEFAULT '0' COMMENT 'stored the same way, in its own direction',
  `created_time` datetime(6) NOT NULL COMMENT 'when this score was reached',
  PRIMARY KEY (`period_id`,`member`),
  KEY `entries_order` (`period_id`,`score` DESC,`tiebreak` DESC,`created_time`,`member`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `entry_metadata` (
  `period_id` bigint NOT NULL COMMENT 'of hidden entries too',
  `member` varbinary(64) NOT NULL,
  `score` bigint NOT NULL COMMENT 'of the entry that it is of, as entries has it, and so are the next two',
  `tiebreak` bigint NOT NULL,
  `created_time` datetime(6) NOT NULL,
  `body_id` bigint NOT NULL COMMENT '0: that entry has none, the one before it had',
  `emptied_at` datetime(6) DEFAULT NULL COMMENT 'when body_id became 0',
  PRIMARY KEY (`period_id`,`member`),
  KEY `entry_metadata_emptied` (`emptied_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `erasures` (
  `member` varbinary(64) NOT NULL,
  `alias` varbinary(64) NOT NULL DEFAULT '' COMMENT 'a random name: what the member is called from now on in audit and submissions',
  `after_period` bigint NOT NULL DEFAULT '0' COMMENT 'periods up to this id are done',
  `removed_count` bigint NOT NULL DEFAULT '0' COMMENT 'entries removed so far',
  `actor` varchar(128) NOT NULL DEFAULT '',
  `started_at` datetime(6) NOT NULL,
  PRIMARY KEY (`member`),
  KEY `erasures_age` (`started_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `friend_lists` (
  `member` varbinary(64) NOT NULL,
  `updated_at` datetime(6) NOT NULL COMMENT 'who changes a list locks this row first',
  PRIMARY KEY (`member`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `friends` (
  `member` varbinary(64) NOT NULL,
  `friend` varbinary(64) NOT NULL,
  PRIMARY KEY (`member`,`friend`),
  KEY `friends_of` (`friend`,`member`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `held` (
  `id` bigint NOT NULL COMMENT 'its time in microseconds, and random bits',
  `board_id` bigint NOT NULL,
  `member` varbinary(64) NOT NULL,
  `state` enum('waiting','approved','rejected') NOT NULL DEFAULT 'waiting',
  `held_at` datetime(6) NOT NULL COMMENT 'database clock',
  `expires_at` datetime(6) NOT NULL COMMENT 'when the row goes',
  `created_time` datetime(6) NOT NULL COMMENT 'of the entry, once approved, but with policy sum',
  `score` bigint NOT NULL COMMENT 'that it would have made',
  `tiebreak` bigint NOT NULL COMMENT 'that it would have made',
  `reason` varchar(200) NOT NULL,
  `submission` blob NOT NULL COMMENT 'JSON: what was submitted, and the ids of its periods',
  `actor` varbinary(128) NOT NULL COMMENT 'id of the key, or by whom the player is known',
  `request_id` varbinary(128) NOT NULL,
  `decided_at` datetime(6) DEFAULT NULL,
  `decided_by` varbinary(128) DEFAULT NULL COMMENT 'id of the key',
  `note` varchar(200) DEFAULT NULL,
  `outcome` varbinary(16) DEFAULT NULL COMMENT 'of an approved one',
  PRIMARY KEY (`id`),
  KEY `held_board` (`board_id`,`state`,`id`),
  KEY `held_state` (`state`,`id`),
  KEY `held_member` (`member`,`state`,`id`),
  KEY `held_waiting` (`board_id`,`member`,`state`),
  KEY `held_age` (`expires_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `hidden_members` (
  `board_id` bigint NOT NULL COMMENT '0: a global hide',
  `member` varbinary(64) NOT NULL,
  `state` varbinary(16) NOT NULL COMMENT 'hidden; hiding, restoring: entries are still to be moved',
  `version` bigint NOT NULL DEFAULT '1' COMMENT 'audit.id of the hide or restoration',
  `reopen` tinyint NOT NULL DEFAULT '0' COMMENT '1: closed periods are corrected too',
  `after_board` bigint NOT NULL DEFAULT '0' COMMENT 'of a global hide that is under way: boards up to this id are done',
  `reason` varchar(200) NOT NULL,
  `actor` varchar(128) NOT NULL DEFAULT '',
  `hidden_at` datetime(6) NOT NULL,
  PRIMARY KEY (`board_id`,`member`),
  KEY `hidden_members_member` (`member`,`board_id`),
  KEY `hidden_members_state` (`state`,`board_id`,`member`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE VIEW `hidden_scores` AS select (convert(`b`.`name` using utf8mb4) collate utf8mb4_0900_bin) AS `board`,(convert(`p`.`window_name` using utf8mb4) collate utf8mb4_0900_bin) AS `window_name`,(convert(if((`p`.`name` = ''),`p`.`window_name`,`p`.`name`) using utf8mb4) collate utf8mb4_0900_bin) AS `period`,`p`.`starts_at` AS `starts_at`,`p`.`id` AS `period_id`,(convert(`e`.`member` using utf8mb4) collate utf8mb4_0900_bin) AS `member`,if((json_unquote(json_extract(`b`.`rules`,'$.order')) = 'asc'),(-(1) - `e`.`score`),`e`.`score`) AS `score`,if((json_unquote(json_extract(`b`.`rules`,'$.tiebreak.order')) = 'asc'),(-(1) - `e`.`tiebreak`),`e`.`tiebreak`) AS `tiebreak`,`e`.`created_time` AS `created_time` from ((`entries` `e` join `periods` `p` on(((`p`.`id` = -(`e`.`period_id`)) and (`e`.`period_id` = -(`p`.`id`))))) join `boards` `b` on((`b`.`id` = `p`.`board_id`))) where ((`e`.`period_id` < 0) and (`b`.`state` = 'open') and (`p`.`state` <> 'deleting'));

CREATE TABLE `idempotency_keys` (
  `board_id` bigint NOT NULL COMMENT '0: of a request to several boards',
  `idempotency_key` varbinary(160) NOT NULL COMMENT 'id of the API key, a space, what the client gave',
  `request_hash` binary(32) NOT NULL COMMENT 'SHA-256 of the decoded request',
  `created_at` datetime(6) NOT NULL,
  `receipt` mediumblob NOT NULL COMMENT 'versioned: the answer that was given',
  PRIMARY KEY (`board_id`,`idempotency_key`),
  KEY `idempotency_keys_age` (`created_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `issuers` (
  `name` varbinary(64) NOT NULL,
  `rules` mediumtext NOT NULL COMMENT 'leaderboard.IssuerRules, JSON',
  `created_at` datetime(6) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `member_bars` (
  `member` varbinary(64) NOT NULL,
  `not_before` datetime(6) NOT NULL COMMENT 'tokens that were issued before are refused',
  PRIMARY KEY (`member`),
  KEY `member_bars_age` (`not_before`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `metadata_bodies` (
  `member` varbinary(64) NOT NULL,
  `id` bigint NOT NULL COMMENT 'random, not 0',
  `refs` int NOT NULL COMMENT 'how many rows of entry_metadata have it; it goes with the last',
  `body` varbinary(4096) NOT NULL COMMENT 'a JSON object without spaces',
  PRIMARY KEY (`member`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `notice_boards` (
  `board_id` bigint NOT NULL,
  `window_name` varbinary(16) NOT NULL COMMENT 'the first window of the board',
  `period_id` bigint NOT NULL DEFAULT '0' COMMENT '0: none was looked at',
  `seq` bigint NOT NULL DEFAULT '0' COMMENT 'up to which who was passed has been entered in outbox',
  PRIMARY KEY (`board_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `outbox` (
  `id` bigint NOT NULL AUTO_INCREMENT COMMENT 'ids commit out of order: see docs/decisions/events.md',
  `dedupe` varbinary(32) NOT NULL COMMENT 'the webhook-id; of what happens only once it is made of what happened',
  `kind` varbinary(32) NOT NULL COMMENT 'leaderboard.EventKind',
  `board` varbinary(64) NOT NULL COMMENT 'its name at the time; empty: none or all',
  `payload` mediumtext NOT NULL COMMENT 'a JSON object; the members are in outbox_members',
  `created_at` datetime(6) NOT NULL COMMENT 'database clock',
  PRIMARY KEY (`id`),
  UNIQUE KEY `outbox_dedupe` (`dedupe`),
  KEY `outbox_age` (`created_at`,`id`),
  KEY `outbox_kind` (`kind`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `outbox_members` (
  `event_id` bigint NOT NULL COMMENT 'outbox.id',
  `place` int NOT NULL COMMENT 'in the event, from 0',
  `member` varbinary(64) NOT NULL,
  `detail` mediumtext NOT NULL COMMENT 'a JSON object beside the id of the member; empty: nothing',
  PRIMARY KEY (`event_id`,`place`),
  KEY `outbox_members_member` (`member`,`event_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE VIEW `period_counts` AS select (convert(`b`.`name` using utf8mb4) collate utf8mb4_0900_bin) AS `board`,(convert(`p`.`window_name` using utf8mb4) collate utf8mb4_0900_bin) AS `window_name`,(convert(if((`p`.`name` = ''),`p`.`window_name`,`p`.`name`) using utf8mb4) collate utf8mb4_0900_bin) AS `period`,`p`.`starts_at` AS `starts_at`,`p`.`ends_at` AS `ends_at`,`p`.`id` AS `period_id`,(convert(`p`.`state` using utf8mb4) collate utf8mb4_0900_bin) AS `state`,`p`.`entry_count` AS `visible_count`,coalesce(`h`.`hidden_count`,0) AS `hidden_count` from ((`periods` `p` join `boards` `b` on((`b`.`id` = `p`.`board_id`))) left join (select -(`e`.`period_id`) AS `period_id`,count(0) AS `hidden_count` from `entries` `e` where (`e`.`period_id` < 0) group by `e`.`period_id`) `h` on((`h`.`period_id` = `p`.`id`))) where ((`b`.`state` = 'open') and (`p`.`state` <> 'deleting'));

CREATE TABLE `periods` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `incarnation` bigint NOT NULL COMMENT 'random, not 0: an id that is given again after a restore is another period',
  `board_id` bigint NOT NULL,
  `window_name` varbinary(16) NOT NULL COMMENT 'all_time, hour, day, …',
  `name` varbinary(64) NOT NULL DEFAULT '' COMMENT 'as in 2026-11-20; empty: the name of the window',
  `starts_at` datetime(6) NOT NULL,
  `ends_at` datetime(6) DEFAULT NULL COMMENT 'exclusive; NULL: no end',
  `state` varbinary(16) NOT NULL DEFAULT 'open' COMMENT 'open, closed, deleting',
  `last_seq` bigint NOT NULL DEFAULT '0' COMMENT 'changes committed so far',
  `last_created_time` datetime(6) NOT NULL COMMENT 'greatest entries.created_time assigned so far',
  `committed_at` datetime(6) NOT NULL COMMENT 'database clock at the commit that led to last_seq',
  `entry_count` bigint NOT NULL DEFAULT '0' COMMENT 'visible entries at last_seq',
  PRIMARY KEY (`id`),
  UNIQUE KEY `periods_start` (`board_id`,`window_name`,`starts_at`),
  KEY `periods_board` (`board_id`,`id`),
  KEY `periods_open` (`board_id`,`state`,`id`),
  KEY `periods_name` (`board_id`,`window_name`,`name`),
  KEY `periods_end` (`state`,`ends_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `plays` (
  `board_id` bigint NOT NULL,
  `member` varbinary(64) NOT NULL,
  `id` binary(16) NOT NULL COMMENT 'random; a play that is begun later has another one',
  `started_at` datetime(6) NOT NULL COMMENT 'database clock',
  `refusals` int NOT NULL DEFAULT '0' COMMENT 'submissions with it that were refused',
  PRIMARY KEY (`board_id`,`member`),
  KEY `plays_member` (`member`,`board_id`),
  KEY `plays_age` (`started_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `profiles` (
  `member` varbinary(64) NOT NULL,
  `display_name` varbinary(100) NOT NULL COMMENT 'UTF-8',
  `avatar_url` varbinary(500) NOT NULL COMMENT 'http or https, empty for none',
  `attributes` varbinary(2048) NOT NULL COMMENT 'a JSON object without spaces, names in byte order, compared as bytes',
  `name_key` varbinary(100) NOT NULL DEFAULT '' COMMENT 'display_name without case (leaderboard.FoldName), for searches',
  `updated_at` datetime(6) NOT NULL,
  `reset_names` varbinary(1010) NOT NULL DEFAULT '' COMMENT 'display names that were taken away, the newest first, a line each, ten at most',
  PRIMARY KEY (`member`),
  KEY `profiles_name` (`name_key`,`member`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `rank_indexes` (
  `period_id` bigint NOT NULL,
  `chunk` int NOT NULL COMMENT 'parts of one saved index, from 0 without a gap',
  `chunks` int NOT NULL,
  `incarnation` bigint NOT NULL COMMENT 'periods.incarnation',
  `seq` bigint NOT NULL COMMENT 'the state of the period that the index describes',
  `saved_at` datetime(6) NOT NULL,
  `payload` mediumblob NOT NULL COMMENT 'versioned: bounds of the buckets and their counts',
  PRIMARY KEY (`period_id`,`chunk`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `runs` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `board_id` bigint NOT NULL,
  `period_id` bigint NOT NULL,
  `kind` varbinary(16) NOT NULL COMMENT 'full, incremental, index, reopen, recompute',
  `reason` varbinary(16) NOT NULL COMMENT 'admin, command, schedule, dynamic, demand, clock',
  `actor` varchar(128) NOT NULL DEFAULT '',
  `state` varbinary(16) NOT NULL COMMENT 'running, done, shared, refused, failed',
  `from_seq` bigint NOT NULL DEFAULT '0',
  `to_seq` bigint NOT NULL DEFAULT '0',
  `row_count` bigint NOT NULL DEFAULT '0',
  `started_at` datetime(6) NOT NULL,
  `took_us` bigint NOT NULL DEFAULT '0',
  `error` varchar(1000) NOT NULL DEFAULT '',
  `server` varbinary(32) NOT NULL DEFAULT '' COMMENT 'the process that does it, random',
  `alive_at` datetime(6) NOT NULL DEFAULT '1970-01-01 00:00:00.000000' COMMENT 'while it is running: when that process last said so',
  PRIMARY KEY (`id`),
  KEY `runs_board` (`board_id`,`id`),
  KEY `runs_state` (`state`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `schema_baseline` (
  `id` tinyint NOT NULL COMMENT '1',
  `sha256` binary(32) NOT NULL COMMENT 'of the first migration, which this schema began with',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE VIEW `scores` AS select (convert(`b`.`name` using utf8mb4) collate utf8mb4_0900_bin) AS `board`,(convert(`p`.`window_name` using utf8mb4) collate utf8mb4_0900_bin) AS `window_name`,(convert(if((`p`.`name` = ''),`p`.`window_name`,`p`.`name`) using utf8mb4) collate utf8mb4_0900_bin) AS `period`,`p`.`starts_at` AS `starts_at`,`p`.`id` AS `period_id`,(convert(`e`.`member` using utf8mb4) collate utf8mb4_0900_bin) AS `member`,if((json_unquote(json_extract(`b`.`rules`,'$.order')) = 'asc'),(-(1) - `e`.`score`),`e`.`score`) AS `score`,if((json_unquote(json_extract(`b`.`rules`,'$.tiebreak.order')) = 'asc'),(-(1) - `e`.`tiebreak`),`e`.`tiebreak`) AS `tiebreak`,`e`.`created_time` AS `created_time` from ((`entries` `e` join `periods` `p` on((`p`.`id` = `e`.`period_id`))) join `boards` `b` on((`b`.`id` = `p`.`board_id`))) where ((`b`.`state` = 'open') and (`p`.`state` <> 'deleting'));

CREATE TABLE `sessions` (
  `key_id` varbinary(16) NOT NULL COMMENT 'of api_keys',
  `person` varbinary(100) NOT NULL COMMENT 'as the identity provider calls the person: the verified email address, or the subject',
  `role` varbinary(255) NOT NULL COMMENT 'what the provider said of the person that the scope is for',
  `expires_at` datetime(6) NOT NULL COMMENT 'as that of the key, which does not change',
  PRIMARY KEY (`key_id`),
  KEY `sessions_age` (`expires_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `signing_keys` (
  `id` varbinary(16) NOT NULL COMMENT 'kid of the tokens that it signs',
  `seed` varbinary(32) NOT NULL COMMENT 'of Ed25519: a secret, with which tokens for any member are made',
  `created_at` datetime(6) NOT NULL,
  `ends_at` datetime(6) DEFAULT NULL COMMENT 'until when its tokens are taken; NULL: it signs',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `submissions` (
  `board_id` bigint NOT NULL,
  `recorded_at` datetime(6) NOT NULL COMMENT 'database clock of the batch',
  `id` bigint NOT NULL COMMENT 'random, then in order: tells apart what was recorded at the same time',
  `member` varbinary(64) NOT NULL COMMENT 'of an erased member a random name, see erasures',
  `actor` varbinary(128) NOT NULL COMMENT 'id of the key',
  `request_id` varbinary(128) NOT NULL COMMENT 'one of hexadecimal digits as a zero byte and the bytes that they are',
  `result` varbinary(2000) NOT NULL COMMENT 'what was submitted and what became of it, see store/internal/commit/record.go',
  PRIMARY KEY (`board_id`,`recorded_at`,`id`),
  KEY `submissions_member` (`member`,`board_id`,`recorded_at`,`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE `table_versions` (
  `name` varbinary(32) NOT NULL COMMENT 'of a table that servers keep in memory: api_keys, boards',
  `version` bigint NOT NULL COMMENT 'grows by one with each change',
  `changed_at` datetime(6) NOT NULL COMMENT 'database clock at that change',
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

