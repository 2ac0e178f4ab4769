-- +goose Up
CREATE TABLE friends (
    member VARBINARY(64) NOT NULL,
    friend VARBINARY(64) NOT NULL,
    PRIMARY KEY (member, friend),
    KEY friends_of (friend, member)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- +goose Down
DROP TABLE friends;
