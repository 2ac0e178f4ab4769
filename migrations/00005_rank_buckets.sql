-- +goose Up
CREATE TABLE rank_buckets (
    period_id  BIGINT        NOT NULL,
    chunk      INT           NOT NULL COMMENT 'parts of one saved index, from 0 without a gap',
    chunks     INT           NOT NULL,
    seq        BIGINT        NOT NULL COMMENT 'the seq that the index is true at',
    saved_at   DATETIME(6)   NOT NULL,
    payload    MEDIUMBLOB    NOT NULL COMMENT 'versioned: boundaries and counts',
    PRIMARY KEY (period_id, chunk)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE rank_buckets;
