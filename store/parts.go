package store

import (
	"leaderboard/store/commit"
	"leaderboard/store/internal/derived"
	"leaderboard/store/internal/index"
	"leaderboard/store/internal/notices"
	"leaderboard/store/internal/outbox"
	"leaderboard/store/internal/read"
)

// Types of the packages below that callers use.
type (
	// Writer commits all that changes entries.
	Writer = commit.Writer
	// Entries answers questions about entries, and reads the change log.
	Entries = read.Reader
	// Derived keeps derived boards up to date with their sources.
	Derived = derived.Follower
	// Events is the outbox of events, and the endpoints that they are sent to.
	Events = outbox.Outbox
	// Notices makes the events of who was passed.
	Notices = notices.Folder
	// Indexes is the rank indexes of periods.
	Indexes = index.Indexes
	// IndexBuild is a request to build an index.
	IndexBuild = index.BuildRequest
	// IndexStatus is what is known about the rank index of a period.
	IndexStatus = index.Status
)
