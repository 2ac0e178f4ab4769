package app

import (
	"context"

	"leaderboard/internal/serverfault"
)

// look is the result of one look at a server or at this machine.
type look struct {
	found  string // for people
	faults []serverfault.Fault
}

// lookFunc looks once, and changes nothing.
type lookFunc func(context.Context) (look, error)
