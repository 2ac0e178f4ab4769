package leaderboard

import "time"

// RunKind is the kind of a run.
type RunKind string

// RunKindFull builds the copy from scratch, RunKindIncremental catches up by the change log, RunKindIndex builds the
// rank index in MySQL. RunKindReopen records a correction of a closed period, or that it was opened again.
// RunKindRecompute computes the entries of a derived board from scratch.
const (
	RunKindFull        RunKind = "full"
	RunKindIncremental RunKind = "incremental"
	RunKindIndex       RunKind = "index"
	RunKindReopen      RunKind = "reopen"
	RunKindRecompute   RunKind = "recompute"
)

// RunReason is why a run was started.
type RunReason string

// The reasons of a run.
const (
	RunReasonAdmin    RunReason = "admin"    // POST …/rebuild
	RunReasonCommand  RunReason = "command"  // leaderboard refresh
	RunReasonSchedule RunReason = "schedule" // cron expression or interval
	RunReasonDynamic  RunReason = "dynamic"  // enough changes
	RunReasonDemand   RunReason = "demand"   // a reader found no copy, or a damaged one
	RunReasonClock    RunReason = "clock"    // the database clock went back into a period that was closed
	RunReasonMemory   RunReason = "memory"   // no run: Redis is nearly full, and the board was not read lately
)

// RunState is the state of a run.
type RunState string

// A run is running, then one of the others. Shared: another process's build, which began after this run was requested,
// did the work. Refused: the build was older than the copy in place (fencing by seq), or was not begun for
// RunReasonMemory.
const (
	RunStateRunning RunState = "running"
	RunStateDone    RunState = "done"
	RunStateShared  RunState = "shared"
	RunStateRefused RunState = "refused"
	RunStateFailed  RunState = "failed"
)

// Run is one rebuild or refresh of a period's copy or rank index, a row of runs.
type Run struct {
	ID        int64
	BoardID   int64
	Board     string
	PeriodID  int64
	Window    Window
	Period    string
	Kind      RunKind
	Reason    RunReason
	Actor     string // the caller that requested it: the id of a key, a host, "" for the service itself
	State     RunState
	FromSeq   int64
	ToSeq     int64
	Rows      int64
	StartedAt Micros
	Took      time.Duration
	Error     string // cause of a failure, for people
}
