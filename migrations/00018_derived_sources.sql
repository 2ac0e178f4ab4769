-- +goose Up
CREATE TABLE derived_sources (
    board_id         BIGINT NOT NULL COMMENT 'the derived board',
    position         INT    NOT NULL COMMENT 'as the rule lists them, the newest period of each first',
    source_period_id BIGINT NOT NULL COMMENT '0: there is no such period',
    weight           BIGINT NOT NULL,
    seq              BIGINT NOT NULL COMMENT 'the state of the source that the entries reflect',
    PRIMARY KEY (board_id, position),
    KEY derived_sources_period (source_period_id, seq)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE derived_sources;
