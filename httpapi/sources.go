package httpapi

import (
	"net/http"

	"leaderboard"
)

// sourceJSON is a source of a derived board as it is shown.
type sourceJSON struct {
	Board   string             `json:"board"`
	Window  leaderboard.Window `json:"window"`
	Period  string             `json:"period"`
	Weight  int64              `json:"weight"`
	Seq     int64              `json:"seq"`
	LastSeq int64              `json:"last_seq"`

	Condition leaderboard.SourceCondition `json:"state"`
}

// sources answers GET …/sources: which states of its sources a derived board reflects.
func sources(c *call) error {
	ref, _, err := c.resolve("", "")
	if err != nil {
		return err
	}
	d, err := c.api.cfg.Derived.Derivation(c.ctx, ref.Board)
	if err != nil {
		return err
	}
	out := struct {
		Board   string                      `json:"board"`
		Seq     int64                       `json:"seq"`
		AsOf    leaderboard.Micros          `json:"as_of"`
		State   leaderboard.DerivationState `json:"state"`
		Lag     int64                       `json:"lag"`
		Sources []sourceJSON                `json:"sources"`
	}{d.Board, d.Seq, d.AsOf, d.State, d.Lag, []sourceJSON{}}
	for _, s := range d.Sources {
		out.Sources = append(out.Sources, sourceJSON(s))
	}
	return c.sendJSON(http.StatusOK, out)
}
