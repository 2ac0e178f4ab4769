-- +goose Up
CREATE TABLE entries (
    period_id    BIGINT        NOT NULL,
    member       VARBINARY(64) NOT NULL,
    score        BIGINT        NOT NULL COMMENT 'stored: ~score on ascending boards, so that higher is always better',
    tiebreak     BIGINT        NOT NULL DEFAULT 0 COMMENT 'stored the same way, in its own direction',
    created_time DATETIME(6)   NOT NULL COMMENT 'UTC, when this score was reached',
    PRIMARY KEY (period_id, member),
    KEY entries_order (period_id, score DESC, tiebreak DESC, created_time ASC, member ASC)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE entries;
