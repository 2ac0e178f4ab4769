package store

import (
	"leaderboard/store/commit"
	"leaderboard/store/internal/index"
	"leaderboard/store/internal/read"
	"leaderboard/store/internal/sweep"
)

// Types of the packages below that callers use.
type (
	// Writer commits all changes of entries.
	Writer = commit.Writer
	// Entries answers questions about entries, and reads the change log.
	Entries = read.Reader
	// Indexes is the rank indexes of periods.
	Indexes = index.Indexes
	// IndexBuild is a request to build an index.
	IndexBuild = index.BuildRequest
	// IndexStatus is the state of the rank index of a period.
	IndexStatus = index.Status
	// Job is a kind of housekeeping, see Housekeeping.Add.
	Job = sweep.Job
	// FollowedSeqs returns how far a feature has followed the change log, see Housekeeping.KeepLog.
	FollowedSeqs = sweep.FollowedSeqs
	// Slice is the time of one turn of a Job.
	Slice = sweep.Slice
	// Pass is the place of a Job in a long list, which it goes through in as many turns and rounds as that takes.
	Pass[K, V any] = sweep.Pass[K, V]
	// List is the list that a Pass goes through.
	List[K, V any] = sweep.List[K, V]
)
