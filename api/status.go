package api

import (
	"time"
)

// Status is the health of a server and its boards.
type Status struct {
	Server     ServerStatus  `json:"server"`
	Boards     []BoardStatus `json:"boards"`               // the boards of the key, by name
	NextCursor string        `json:"next_cursor,omitzero"` // "": no more; Client.Status reads all of them
}

// ServerStatus is the health of the server that answered. Rates are its own, of the last ten seconds.
type ServerStatus struct {
	Version           string    `json:"version"`
	Commit            string    `json:"commit"`
	StartedAt         time.Time `json:"started_at"`
	MySQL             string    `json:"mysql"` // ok, away
	Redis             string    `json:"redis"` // ok, away, none
	RequestsPerSecond float64   `json:"requests_per_second"`
	ReadsPerSecond    float64   `json:"reads_per_second"`
	WritesPerSecond   float64   `json:"writes_per_second"`
	Streams           int       `json:"streams"`
	Purge             Purge     `json:"purge"`
}

// Purge counts deleted boards and entries whose rows still have to be removed.
type Purge struct {
	Boards  int64 `json:"boards"`
	Entries int64 `json:"entries"`
}

// BoardStatus is the health of a board: the current period of its first window.
type BoardStatus struct {
	Board       string         `json:"board"`
	DisplayName string         `json:"display_name,omitzero"`
	Visibility  string         `json:"visibility"`
	Window      string         `json:"window"`
	Period      *string        `json:"period"` // nil: no current one
	Entries     int64          `json:"entries"`
	Seq         int64          `json:"seq"`
	AsOf        *time.Time     `json:"as_of"`
	Stale       bool           `json:"stale"` // MySQL could not be asked: this is the last known state
	Copy        *CopyStatus    `json:"copy"`  // in Redis; nil: not there, or Redis is away
	Resident    bool           `json:"resident"`
	Derived     *DerivedStatus `json:"derived"` // nil: the board is not derived
}

// CopyStatus is the copy of a period in Redis.
type CopyStatus struct {
	Seq     int64 `json:"seq"`
	Entries int64 `json:"entries"`
}

// DerivedStatus is how far a derived board is behind its sources.
type DerivedStatus struct {
	LagMS *int64 `json:"lag_ms"` // nil: unknown now
}
