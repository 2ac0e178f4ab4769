package main

import (
	"fmt"
	"strings"
	"time"
)

const (
	minMembers = 10_000
	maxMembers = 10_000_000 // the names of the members have seven digits

	defaultMembers = 1_000_000
	defaultPairs   = 7

	smallest = 10_000 // of the boards of the index
	huge     = 10_000_000

	giantSection = "giant"
	giantMembers = 100_000_000 // of the section giant
	leastGiant   = 100_000

	manyBoards = 100_000 // of the section boards
)

// options are what the command line decides.
type options struct {
	program string  // the service's binary
	dir     string  // of the servers' data
	docs    string  // folder that the page is written to, "" for none
	members int     // entries of the board
	huge    bool    // a board of 10,000,000 too
	giant   bool    // the section giant, which is left out otherwise
	giants  int     // entries of its largest board
	boards  int     // of the section boards
	pace    float64 // factor of how long is measured
	pairs   int     // rounds of the service and its yardstick in turn
	only    []string

	housekeeping float64 // factor of how much that is given to do

	serveArgs    []string // of every server, besides those that the measurements give
	residencyOff string   // arguments of a server that keeps no board in memory
}

// command returns how a section is measured again.
func (o *options) command(section string) string {
	args := "-only " + section
	if section == giantSection {
		args = "-giant"
		if o.giants != giantMembers {
			args += fmt.Sprintf(" -giant-members %d", o.giants)
		}
	}
	if o.members != defaultMembers {
		args += fmt.Sprintf(" -members %d", o.members)
	}
	if o.huge && section == "index" {
		args += " -huge"
	}
	if o.boards != manyBoards && section == "boards" {
		args += fmt.Sprintf(" -boards %d", o.boards)
	}
	if o.pace != 1 {
		args += fmt.Sprintf(" -pace %g", o.pace)
	}
	if o.housekeeping != 1 && section == "housekeeping" {
		args += fmt.Sprintf(" -housekeeping %g", o.housekeeping)
	}
	if o.pairs != defaultPairs {
		args += fmt.Sprintf(" -pairs %d", o.pairs)
	}
	if len(o.serveArgs) > 0 {
		args += fmt.Sprintf(" -serve %q", strings.Join(o.serveArgs, " "))
	}
	return fmt.Sprintf("make bench ARGS='%s'", args)
}

// seconds returns a length of time to measure for, at the pace that was asked for.
func (o *options) seconds(s float64) time.Duration {
	return time.Duration(s * o.pace * float64(time.Second))
}

// indexSizes returns the sizes of the boards of the index: powers of ten up to members, members itself, and 10,000,000
// if wanted.
func indexSizes(members int, andHuge bool) []int {
	var sizes []int
	for n := smallest; n < members; n *= 10 {
		sizes = append(sizes, n)
	}
	sizes = append(sizes, members)
	if andHuge && members < huge {
		sizes = append(sizes, huge)
	}
	return sizes
}
