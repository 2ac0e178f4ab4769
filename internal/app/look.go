package app

import (
	"context"

	"leaderboard/leaderboard"
)

// look is what one look at a server or at this machine found.
type look struct {
	found  string // for people
	faults []leaderboard.ServerFault
}

// asking looks once, and changes nothing.
type asking func(context.Context) (look, error)
