package main

import "time"

const (
	minMembers = 10_000
	maxMembers = 10_000_000 // the names of the members have seven digits

	smallest = 10_000 // of the boards of the index
	huge     = 10_000_000
)

// options are what the command line decides.
type options struct {
	program string  // the service's binary
	dir     string  // of the servers' data
	docs    string  // folder that the page is written to, "" for none
	members int     // entries of the board
	huge    bool    // a board of 10,000,000 too
	pace    float64 // factor of how long is measured
	only    []string
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
