-- +goose Up
ALTER TABLE periods ADD KEY periods_open (board_id, state, id);

-- +goose Down
ALTER TABLE periods DROP KEY periods_open;
