package events

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// endpointRow is a row of endpoints.
type endpointRow struct {
	ID           int64        `db:"id"`
	Name         []byte       `db:"name"`
	URL          []byte       `db:"url"`
	Kinds        []byte       `db:"kinds"`
	Boards       []byte       `db:"boards"`
	Private      bool         `db:"allow_private"`
	State        []byte       `db:"state"`
	Secret       []byte       `db:"secret"`
	Previous     []byte       `db:"previous_secret"`
	PreviousEnds sql.NullTime `db:"previous_ends_at"`
	LowWater     int64        `db:"low_water"`
	Created      time.Time    `db:"created_at"`
	Updated      time.Time    `db:"updated_at"`
}

const endpointColumns = "id, name, url, kinds, boards, allow_private, state, secret, previous_secret, previous_ends_at, low_water, created_at, updated_at"

func (r *endpointRow) endpoint() (e Endpoint, err error) {
	e = Endpoint{
		ID: r.ID, Name: string(r.Name), URL: string(r.URL), AllowPrivate: r.Private, State: api.EndpointState(r.State),
		CreatedTime: leaderboard.MicrosOf(r.Created), UpdatedTime: leaderboard.MicrosOf(r.Updated),
	}
	if r.PreviousEnds.Valid {
		e.PreviousUntil = leaderboard.MicrosOf(r.PreviousEnds.Time)
	}
	if err = json.Unmarshal(r.Kinds, &e.Kinds); err == nil {
		err = json.Unmarshal(r.Boards, &e.Boards)
	}
	if err != nil {
		return e, fmt.Errorf("endpoint %s: %w", r.Name, err)
	}
	return e, nil
}

func (r *endpointRow) recipient(now leaderboard.Micros) (to Recipient, err error) {
	to.Endpoint, err = r.endpoint()
	to.Secrets = []Secret{Secret(r.Secret)}
	if len(r.Previous) > 0 && to.PreviousUntil > now {
		to.Secrets = append(to.Secrets, Secret(r.Previous))
	}
	return to, err
}
