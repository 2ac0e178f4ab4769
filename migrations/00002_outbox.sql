-- Events, and the endpoints that they are sent to: docs/webhooks.md.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS outbox (
    id         BIGINT        NOT NULL AUTO_INCREMENT COMMENT 'ids commit out of order: see docs/decisions/events.md',
    dedupe     VARBINARY(32) NOT NULL COMMENT 'the webhook-id; of what happens only once it is made of what happened',
    kind       VARBINARY(32) NOT NULL COMMENT 'leaderboard.EventKind',
    board      VARBINARY(64) NOT NULL COMMENT 'its name at the time; empty: none or all',
    payload    MEDIUMTEXT    NOT NULL COMMENT 'a JSON object; the members are in outbox_members',
    created_at DATETIME(6)   NOT NULL COMMENT 'database clock',
    PRIMARY KEY (id),
    UNIQUE KEY outbox_dedupe (dedupe),
    KEY outbox_age (created_at, id),
    KEY outbox_kind (kind, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS outbox_members (
    event_id BIGINT        NOT NULL COMMENT 'outbox.id',
    place    INT           NOT NULL COMMENT 'in the event, from 0',
    member   VARBINARY(64) NOT NULL,
    detail   MEDIUMTEXT    NOT NULL COMMENT 'a JSON object beside the id of the member; empty: nothing',
    PRIMARY KEY (event_id, place),
    KEY outbox_members_member (member, event_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS endpoints (
    id               BIGINT          NOT NULL AUTO_INCREMENT,
    name             VARBINARY(64)   NOT NULL,
    url              VARBINARY(1000) NOT NULL,
    kinds            JSON            NOT NULL COMMENT 'of events; none: all',
    boards           JSON            NOT NULL COMMENT 'names, and prefixes such as game1-*; none: all boards',
    allow_private    TINYINT         NOT NULL DEFAULT 0 COMMENT '1: it may have an address that is not public',
    state            VARBINARY(16)   NOT NULL COMMENT 'on, off, gone',
    secret           VARBINARY(100)  NOT NULL COMMENT 'signs what is sent, so it cannot be kept as a hash',
    previous_secret  VARBINARY(100)  NULL COMMENT 'before the last rotation',
    previous_ends_at DATETIME(6)     NULL COMMENT 'until when that signs too',
    low_water        BIGINT          NOT NULL COMMENT 'outbox.id: no event up to here is missing in deliveries, nor will be',
    created_at       DATETIME(6)     NOT NULL,
    updated_at       DATETIME(6)     NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY endpoints_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS deliveries (
    endpoint_id   BIGINT        NOT NULL,
    event_id      BIGINT        NOT NULL COMMENT 'outbox.id',
    state         VARBINARY(16) NOT NULL COMMENT 'waiting, delivered, failed',
    event_at      DATETIME(6)   NOT NULL COMMENT 'outbox.created_at',
    next_at       DATETIME(6)   NOT NULL COMMENT 'while it is waiting: when it is tried',
    attempt_count INT           NOT NULL DEFAULT 0,
    tried_at      DATETIME(6)   NULL COMMENT 'when the last attempt ended; NULL: there was none',
    status        INT           NOT NULL DEFAULT 0 COMMENT 'of the last answer; 0: there was none',
    error         VARCHAR(200)  NOT NULL DEFAULT '' COMMENT 'of the last attempt, in words of the service alone',
    PRIMARY KEY (endpoint_id, event_id),
    KEY deliveries_due (endpoint_id, state, next_at, event_id),
    KEY deliveries_state (endpoint_id, state, event_id),
    KEY deliveries_event (event_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- A transaction that enters events shares this row; a change of endpoints locks it. Version 0: there was no endpoint yet.
INSERT INTO table_versions (name, version, changed_at) VALUES ('endpoints', 0, NOW(6)) ON DUPLICATE KEY UPDATE version = version;

-- +goose Down
DROP TABLE IF EXISTS deliveries;
DROP TABLE IF EXISTS endpoints;
DROP TABLE IF EXISTS outbox_members;
DROP TABLE IF EXISTS outbox;
DELETE FROM table_versions WHERE name = 'endpoints';
