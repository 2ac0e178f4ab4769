-- The whole schema as v0.1.1 has it. Released: each later change is a migration of its own (CONTRIBUTING.md).
--
-- MySQL, MariaDB and TiDB commit each of these statements by itself, so a process that is killed leaves the first few of
-- them. Each may therefore be repeated: whoever comes next begins again and finds what is there.
--
-- Text from outside is VARBINARY, compared byte by byte. Times are UTC. A column with a point in time ends in _at,
-- except entries.created_time and periods.last_created_time, which have the name that the API gives an entry's time.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS boards (
    id         BIGINT        NOT NULL AUTO_INCREMENT,
    name       VARBINARY(64) NOT NULL COMMENT 'unique; a board that is being deleted gives its name up',
    version    BIGINT        NOT NULL DEFAULT 1 COMMENT 'grows by one with each change of the rules',
    state      VARBINARY(16) NOT NULL DEFAULT 'open' COMMENT 'open, deleting',
    has_hidden TINYINT       NOT NULL DEFAULT 0 COMMENT '1: members are or were hidden here, so writers look up who is',
    rules      JSON          NOT NULL COMMENT 'leaderboard.Rules',
    created_at DATETIME(6)   NOT NULL,
    updated_at DATETIME(6)   NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY boards_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS board_labels (
    label    VARBINARY(64) NOT NULL,
    value    VARBINARY(64) NOT NULL,
    name     VARBINARY(64) NOT NULL COMMENT 'of the board: boards are selected in this order',
    board_id BIGINT        NOT NULL,
    PRIMARY KEY (label, value, name),
    KEY board_labels_board (board_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS periods (
    id              BIGINT        NOT NULL AUTO_INCREMENT,
    incarnation     BIGINT        NOT NULL COMMENT 'random, not 0: an id that is given again after a restore is another period',
    board_id        BIGINT        NOT NULL,
    window_name     VARBINARY(16) NOT NULL COMMENT 'all_time, hour, day, …',
    name            VARBINARY(64) NOT NULL DEFAULT '' COMMENT 'as in 2026-11-20; empty: the name of the window',
    starts_at       DATETIME(6)   NOT NULL,
    ends_at         DATETIME(6)   NULL COMMENT 'exclusive; NULL: no end',
    state           VARBINARY(16) NOT NULL DEFAULT 'open' COMMENT 'open, closed, deleting',
    last_seq        BIGINT        NOT NULL DEFAULT 0 COMMENT 'changes committed so far',
    last_created_time DATETIME(6) NOT NULL COMMENT 'greatest entries.created_time assigned so far',
    committed_at    DATETIME(6)   NOT NULL COMMENT 'database clock at the commit that led to last_seq',
    entry_count     BIGINT        NOT NULL DEFAULT 0 COMMENT 'visible entries at last_seq',
    PRIMARY KEY (id),
    UNIQUE KEY periods_start (board_id, window_name, starts_at),
    KEY periods_board (board_id, id),
    KEY periods_open (board_id, state, id),
    KEY periods_name (board_id, window_name, name),
    KEY periods_end (state, ends_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS entries (
    period_id  BIGINT        NOT NULL COMMENT 'of a hidden entry: the negative id of its period; see the views',
    member     VARBINARY(64) NOT NULL,
    score      BIGINT        NOT NULL COMMENT 'stored: ~score on ascending boards, so that higher is always better',
    tiebreak   BIGINT        NOT NULL DEFAULT 0 COMMENT 'stored the same way, in its own direction',
    created_time DATETIME(6) NOT NULL COMMENT 'when this score was reached',
    PRIMARY KEY (period_id, member),
    KEY entries_order (period_id, score DESC, tiebreak DESC, created_time ASC, member ASC)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS changes (
    period_id         BIGINT      NOT NULL,
    last_seq          BIGINT      NOT NULL,
    first_seq         BIGINT      NOT NULL,
    prev_committed_at DATETIME(6) NOT NULL COMMENT 'periods.committed_at before this commit',
    committed_at      DATETIME(6) NOT NULL COMMENT 'database clock',
    entry_count       BIGINT      NOT NULL COMMENT 'visible entries of the period at last_seq',
    payload           MEDIUMBLOB  NOT NULL COMMENT 'versioned: member, old key, new key per change',
    PRIMARY KEY (period_id, last_seq)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS rank_indexes (
    period_id BIGINT      NOT NULL,
    chunk     INT         NOT NULL COMMENT 'parts of one saved index, from 0 without a gap',
    chunks    INT         NOT NULL,
    incarnation BIGINT    NOT NULL COMMENT 'periods.incarnation',
    seq       BIGINT      NOT NULL COMMENT 'the state of the period that the index describes',
    saved_at  DATETIME(6) NOT NULL,
    payload   MEDIUMBLOB  NOT NULL COMMENT 'versioned: bounds of the buckets and their counts',
    PRIMARY KEY (period_id, chunk)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS idempotency_keys (
    board_id        BIGINT         NOT NULL COMMENT '0: of a request to several boards',
    idempotency_key VARBINARY(160) NOT NULL COMMENT 'id of the API key, a space, what the client gave',
    request_hash    BINARY(32)     NOT NULL COMMENT 'SHA-256 of the decoded request',
    created_at      DATETIME(6)    NOT NULL,
    receipt         MEDIUMBLOB     NOT NULL COMMENT 'versioned: the answer that was given',
    PRIMARY KEY (board_id, idempotency_key),
    KEY idempotency_keys_age (created_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS runs (
    id         BIGINT        NOT NULL AUTO_INCREMENT,
    board_id   BIGINT        NOT NULL,
    period_id  BIGINT        NOT NULL,
    kind       VARBINARY(16) NOT NULL COMMENT 'full, incremental, index, reopen, recompute',
    reason     VARBINARY(16) NOT NULL COMMENT 'admin, command, schedule, dynamic, demand, clock',
    actor      VARCHAR(128)  NOT NULL DEFAULT '',
    state      VARBINARY(16) NOT NULL COMMENT 'running, done, shared, refused, failed',
    from_seq   BIGINT        NOT NULL DEFAULT 0,
    to_seq     BIGINT        NOT NULL DEFAULT 0,
    row_count  BIGINT        NOT NULL DEFAULT 0,
    started_at DATETIME(6)   NOT NULL,
    took_us    BIGINT        NOT NULL DEFAULT 0,
    error      VARCHAR(1000) NOT NULL DEFAULT '',
    server     VARBINARY(32) NOT NULL DEFAULT '' COMMENT 'the process that does it, random',
    alive_at   DATETIME(6)   NOT NULL DEFAULT '1970-01-01' COMMENT 'while it is running: when that process last said so',
    PRIMARY KEY (id),
    KEY runs_board (board_id, id),
    KEY runs_state (state)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS derived_boards (
    board_id  BIGINT        NOT NULL,
    step      BIGINT        NOT NULL DEFAULT 0 COMMENT 'grows by one whenever the entries follow the sources',
    rule_hash VARBINARY(32) NOT NULL DEFAULT '' COMMENT 'SHA-256 of the rule that the entries follow; empty: computed from scratch next',
    PRIMARY KEY (board_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS derived_sources (
    board_id         BIGINT NOT NULL COMMENT 'the derived board',
    position         INT    NOT NULL COMMENT 'as the rule lists them, the newest period of each first',
    source_period_id BIGINT NOT NULL COMMENT '0: there is no such period',
    weight           BIGINT NOT NULL,
    seq              BIGINT NOT NULL COMMENT 'the state of the source that the entries reflect',
    PRIMARY KEY (board_id, position),
    KEY derived_sources_period (source_period_id, seq)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS hidden_members (
    board_id    BIGINT        NOT NULL COMMENT '0: a global hide',
    member      VARBINARY(64) NOT NULL,
    state       VARBINARY(16) NOT NULL COMMENT 'hidden; hiding, restoring: entries are still to be moved',
    version     BIGINT        NOT NULL DEFAULT 1 COMMENT 'audit.id of the hide or restoration',
    reopen      TINYINT       NOT NULL DEFAULT 0 COMMENT '1: closed periods are corrected too',
    after_board BIGINT        NOT NULL DEFAULT 0 COMMENT 'of a global hide that is under way: boards up to this id are done',
    reason      VARCHAR(200)  NOT NULL,
    actor       VARCHAR(128)  NOT NULL DEFAULT '',
    hidden_at   DATETIME(6)   NOT NULL,
    PRIMARY KEY (board_id, member),
    KEY hidden_members_member (member, board_id),
    KEY hidden_members_state (state, board_id, member)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS profiles (
    member       VARBINARY(64)   NOT NULL,
    display_name VARBINARY(100)  NOT NULL COMMENT 'UTF-8',
    avatar_url   VARBINARY(500)  NOT NULL COMMENT 'http or https, empty for none',
    attributes   VARBINARY(2048) NOT NULL COMMENT 'a JSON object without spaces, names in byte order, compared as bytes',
    name_key     VARBINARY(100)  NOT NULL DEFAULT '' COMMENT 'display_name without case (leaderboard.FoldName), for searches',
    updated_at   DATETIME(6)     NOT NULL,
    PRIMARY KEY (member),
    KEY profiles_name (name_key, member)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS friend_lists (
    member     VARBINARY(64) NOT NULL,
    updated_at DATETIME(6)   NOT NULL COMMENT 'who changes a list locks this row first',
    PRIMARY KEY (member)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS friends (
    member VARBINARY(64) NOT NULL,
    friend VARBINARY(64) NOT NULL,
    PRIMARY KEY (member, friend),
    KEY friends_of (friend, member)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS erasures (
    member        VARBINARY(64) NOT NULL,
    alias         VARBINARY(64) NOT NULL DEFAULT '' COMMENT 'a random name: what the member is called from now on in audit and submissions',
    after_period  BIGINT        NOT NULL DEFAULT 0 COMMENT 'periods up to this id are done',
    removed_count BIGINT        NOT NULL DEFAULT 0 COMMENT 'entries removed so far',
    actor         VARCHAR(128)  NOT NULL DEFAULT '',
    started_at    DATETIME(6)   NOT NULL,
    PRIMARY KEY (member),
    KEY erasures_age (started_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS submissions (
    board_id       BIGINT        NOT NULL,
    recorded_at    DATETIME(6)   NOT NULL COMMENT 'database clock of the batch',
    id             BIGINT        NOT NULL COMMENT 'random, then in order: tells apart what was recorded at the same time',
    member         VARBINARY(64) NOT NULL COMMENT 'of an erased member a random name, see erasures',
    actor          VARBINARY(128) NOT NULL COMMENT 'id of the key',
    request_id     VARBINARY(128) NOT NULL COMMENT 'one of hexadecimal digits as a zero byte and the bytes that they are',
    result         VARBINARY(2000) NOT NULL COMMENT 'what was submitted and what became of it, see store/internal/commit/record.go',
    PRIMARY KEY (board_id, recorded_at, id),
    KEY submissions_member (member, board_id, recorded_at, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS audit (
    id          BIGINT         NOT NULL AUTO_INCREMENT,
    logged_at   DATETIME(6)    NOT NULL COMMENT 'database clock, in the transaction of the change',
    actor       VARBINARY(128) NOT NULL COMMENT 'id of the key; empty: the service itself',
    action      VARBINARY(32)  NOT NULL COMMENT 'board.create, … : leaderboard.AuditActions',
    board       VARBINARY(64)  NOT NULL COMMENT 'its name at the time; empty: none',
    member      VARBINARY(64)  NOT NULL COMMENT 'empty: none; of an erased member a random name, see erasures',
    before_json MEDIUMTEXT     NULL COMMENT 'a JSON object; NULL: nothing',
    after_json  MEDIUMTEXT     NULL COMMENT 'a JSON object; NULL: nothing',
    request_id  VARBINARY(128) NOT NULL,
    PRIMARY KEY (id),
    KEY audit_time (logged_at, id),
    KEY audit_board (board, logged_at, id, action, actor),
    KEY audit_member (member, logged_at, id, action, actor, board),
    KEY audit_actor (actor, logged_at, id, action),
    KEY audit_action (action, logged_at, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS api_keys (
    id                  VARBINARY(16)  NOT NULL COMMENT 'in the text of the key, lbk_<id>_<secret>',
    name                VARBINARY(100) NOT NULL COMMENT 'UTF-8',
    scope               VARBINARY(16)  NOT NULL COMMENT 'read, write, admin',
    boards              JSON           NOT NULL COMMENT 'names, and prefixes such as game1-*; none: all boards',
    requests_per_second BIGINT         NOT NULL DEFAULT 0 COMMENT '0: what the settings of the server say',
    rows_per_second     BIGINT         NOT NULL DEFAULT 0 COMMENT '0: what the settings of the server say',
    secret_hash         BINARY(32)     NOT NULL COMMENT 'SHA-256 of the whole text of the key, which is kept nowhere',
    previous_hash       BINARY(32)     NULL COMMENT 'of the text before the last rotation',
    previous_ends_at    DATETIME(6)    NULL COMMENT 'until when that is taken too',
    expires_at          DATETIME(6)    NULL COMMENT 'NULL: never',
    revoked_at          DATETIME(6)    NULL COMMENT 'NULL: it was not',
    last_used_at        DATETIME(6)    NULL COMMENT 'to the minute',
    created_at          DATETIME(6)    NOT NULL,
    updated_at          DATETIME(6)    NOT NULL COMMENT 'of the last change but for uses',
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS table_versions (
    name       VARBINARY(32) NOT NULL COMMENT 'of a table that servers keep in memory: api_keys, boards',
    version    BIGINT        NOT NULL COMMENT 'grows by one with each change',
    changed_at DATETIME(6)   NOT NULL COMMENT 'database clock at that change',
    PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Views for people at an SQL prompt: docs/sql.md. The service uses none of them. They have names as text, compared
-- exactly, and scores as they were submitted; boards and periods that are being deleted are left out.

-- Visible entries: those of hidden members have a negative period_id, so they join no period.
CREATE OR REPLACE VIEW scores AS
SELECT CONVERT(b.name USING utf8mb4) COLLATE utf8mb4_bin AS board,
       CONVERT(p.window_name USING utf8mb4) COLLATE utf8mb4_bin AS window_name,
       CONVERT(IF(p.name = '', p.window_name, p.name) USING utf8mb4) COLLATE utf8mb4_bin AS period,
       p.starts_at,
       p.id AS period_id,
       CONVERT(e.member USING utf8mb4) COLLATE utf8mb4_bin AS member,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.order')) = 'asc', -1 - e.score, e.score) AS score,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.tiebreak.order')) = 'asc', -1 - e.tiebreak, e.tiebreak) AS tiebreak,
       e.created_time
FROM entries e
JOIN periods p ON p.id = e.period_id
JOIN boards b ON b.id = p.board_id
WHERE b.state = 'open' AND p.state <> 'deleting';

-- Entries of hidden members. The same condition three times, so that the few hidden entries are found by an index
-- whether the server begins with them or with a period.
CREATE OR REPLACE VIEW hidden_scores AS
SELECT CONVERT(b.name USING utf8mb4) COLLATE utf8mb4_bin AS board,
       CONVERT(p.window_name USING utf8mb4) COLLATE utf8mb4_bin AS window_name,
       CONVERT(IF(p.name = '', p.window_name, p.name) USING utf8mb4) COLLATE utf8mb4_bin AS period,
       p.starts_at,
       p.id AS period_id,
       CONVERT(e.member USING utf8mb4) COLLATE utf8mb4_bin AS member,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.order')) = 'asc', -1 - e.score, e.score) AS score,
       IF(JSON_UNQUOTE(JSON_EXTRACT(b.rules, '$.tiebreak.order')) = 'asc', -1 - e.tiebreak, e.tiebreak) AS tiebreak,
       e.created_time
FROM entries e
JOIN periods p ON p.id = -e.period_id AND e.period_id = -p.id
JOIN boards b ON b.id = p.board_id
WHERE e.period_id < 0 AND b.state = 'open' AND p.state <> 'deleting';

-- Entries by period. Visible ones are counted by the writer, in the transaction that changes them; hidden ones are few.
CREATE OR REPLACE VIEW period_counts AS
SELECT CONVERT(b.name USING utf8mb4) COLLATE utf8mb4_bin AS board,
       CONVERT(p.window_name USING utf8mb4) COLLATE utf8mb4_bin AS window_name,
       CONVERT(IF(p.name = '', p.window_name, p.name) USING utf8mb4) COLLATE utf8mb4_bin AS period,
       p.starts_at,
       p.ends_at,
       p.id AS period_id,
       CONVERT(p.state USING utf8mb4) COLLATE utf8mb4_bin AS state,
       p.entry_count AS visible_count,
       COALESCE(h.hidden_count, 0) AS hidden_count
FROM periods p
JOIN boards b ON b.id = p.board_id
LEFT JOIN (SELECT -e.period_id AS period_id, COUNT(*) AS hidden_count FROM entries e WHERE e.period_id < 0 GROUP BY e.period_id) h
       ON h.period_id = p.id
WHERE b.state = 'open' AND p.state <> 'deleting';

-- +goose Down
DROP VIEW IF EXISTS period_counts;
DROP VIEW IF EXISTS hidden_scores;
DROP VIEW IF EXISTS scores;
DROP TABLE IF EXISTS table_versions;
DROP TABLE IF EXISTS api_keys;
DROP TABLE IF EXISTS audit;
DROP TABLE IF EXISTS submissions;
DROP TABLE IF EXISTS erasures;
DROP TABLE IF EXISTS friends;
DROP TABLE IF EXISTS friend_lists;
DROP TABLE IF EXISTS profiles;
DROP TABLE IF EXISTS hidden_members;
DROP TABLE IF EXISTS derived_sources;
DROP TABLE IF EXISTS derived_boards;
DROP TABLE IF EXISTS runs;
DROP TABLE IF EXISTS idempotency_keys;
DROP TABLE IF EXISTS rank_indexes;
DROP TABLE IF EXISTS changes;
DROP TABLE IF EXISTS entries;
DROP TABLE IF EXISTS periods;
DROP TABLE IF EXISTS board_labels;
DROP TABLE IF EXISTS boards;
