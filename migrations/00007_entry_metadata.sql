-- Metadata of entries, on boards with the rule metadata. A row has the whole key of its entry, so that no other entry shows it.
-- The metadata of one submission is stored once, for the rows of all windows.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS entry_metadata (
    period_id    BIGINT        NOT NULL COMMENT 'of hidden entries too',
    member       VARBINARY(64) NOT NULL,
    score        BIGINT        NOT NULL COMMENT 'of the entry that it is of, as entries has it, and so are the next two',
    tiebreak     BIGINT        NOT NULL,
    created_time DATETIME(6)   NOT NULL,
    body_id      BIGINT        NOT NULL COMMENT '0: that entry has none, the one before it had',
    emptied_at   DATETIME(6)   NULL COMMENT 'when body_id became 0',
    PRIMARY KEY (period_id, member),
    KEY entry_metadata_emptied (emptied_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE TABLE IF NOT EXISTS metadata_bodies (
    member VARBINARY(64)   NOT NULL,
    id     BIGINT          NOT NULL COMMENT 'random, not 0',
    refs   INT             NOT NULL COMMENT 'how many rows of entry_metadata have it; it goes with the last',
    body   VARBINARY(4096) NOT NULL COMMENT 'a JSON object without spaces',
    PRIMARY KEY (member, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE IF EXISTS metadata_bodies;
DROP TABLE IF EXISTS entry_metadata;
