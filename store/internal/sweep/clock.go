package sweep

import "time"

const (
	// clockStep is the amount by which the database clock may gain on the process's clock between two rounds.
	clockStep = 5 * time.Minute
	// clockDoubt is for how long nothing is deleted because of its age after the clock gained more.
	clockDoubt = time.Hour
)

// clock doubts a database clock that leaps forward: rows that look old by it would be lost if it goes back.
type clock struct {
	last     time.Time // of the database
	at       time.Time // of the process, then
	believed time.Time // of the process: from when on
}

// believe takes a reading of the database clock, and reports whether ages by it can be trusted.
func (c *clock) believe(database, process time.Time) bool {
	gained := database.Sub(c.last) - process.Sub(c.at)
	switch {
	case c.at.IsZero():
	case gained > clockStep:
		c.believed = process.Add(clockDoubt)
	case gained < -clockStep:
		c.believed = process // it went back
	}
	c.last, c.at = database, process
	return !process.Before(c.believed)
}
