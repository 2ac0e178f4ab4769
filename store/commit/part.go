package commit

import (
	"database/sql"
	"slices"

	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Part is a feature's part in the transaction of a batch. The Writer has a list of parts. Its order is the order in which
// parts read, decide and write.
type Part interface {
	// On returns the part of one board in one batch, nil if the feature has nothing to do there. The board is as remembered
	// before its lock. When the lock finds rules that are not the Same, or other periods, On is called again.
	On(b *Board, n *Needs) BoardPart
	// Same reports whether the feature reads the same by two versions of the rules.
	Same(now, then *leaderboard.Rules) bool
	// Rule returns the rule that the part carries out, as leaderboard.RulesOfParts names it; "": it carries out none.
	Rule() string
}

// A PartWriter is a Part that writes after the entries and the rows of the audit. Write appends statements for the boards of a
// batch on which something Changed, in the order of their locks.
type PartWriter interface {
	Write(t *mysql.Text, changed []BoardPart)
}

// An EntryWriter is a Part that writes right after the entries.
type EntryWriter interface {
	WriteEntries(t *mysql.Text, changed []BoardPart)
}

// A Listener is a Part that gets committed batches, before their requests are answered. It gets the same arguments as an
// EntryWriter, and must not block.
type Listener interface {
	Committed(changed []BoardPart)
}

// BoardPart is the part of one board in one batch. It has some of the methods of Reader, EntryReader, Aside, Judge, Holder,
// Observer, Finisher, Marker and Announcer.
type BoardPart interface {
	// Changed reports whether the batch has something of the feature to write.
	Changed() bool
}

// Reader reads under the lock, before the entries of a batch are read.
type Reader interface {
	// Read appends statements, each a SELECT with its semicolon.
	Read(t *mysql.Text)
	// Scan reads the answers. The current answer is before the first: see mysql.NextResult.
	Scan(rows *sql.Rows) error
}

// EntryReader reads under the lock what belongs to entries of members, of current and of past periods.
type EntryReader interface {
	// ReadEntries appends statements. The periods are ids as stored, see entries.AsideIn.
	ReadEntries(t *mysql.Text, periods []int64, members []string)
	ScanEntries(rows *sql.Rows, periods []*Period, members []string) error
}

// Aside is a reason to set entries aside: nobody sees them, and they count for nothing, until no reason is left. The part is a
// Reader, which calls FoundAside for entries of current periods that are set aside.
type Aside interface {
	Reader
	SetsAside(member string) bool
}

// Judge may refuse a submission before it is decided on, by a RuleError: nil lets it pass.
type Judge interface {
	Before(a *Attempt) error
}

// Holder may keep a submission from being applied after it was decided on, by a RuleError: nil lets it pass. The decisions, one per current
// period, break no rule.
type Holder interface {
	Decided(a *Attempt, decisions []Decision) error
}

// Observer is called for each new entry of an attempt, with the old entry (nil: none), and for each removed entry, with a
// nil attempt and a nil new entry. It is not called for entries that are moved to their other side.
type Observer interface {
	Entry(p *Period, member string, old, now *leaderboard.Entry, a *Attempt)
}

// Finisher is called with the result of each attempt. After an atomic request is aborted it is called again, with the
// aborted result.
type Finisher interface {
	Done(a *Attempt, r *leaderboard.Result)
}

// Marker takes part in atomic requests: Mark returns a function that takes back what attempts of these members do from now on.
type Marker interface {
	Mark(members []string) (undo func())
}

// Announcer has events that enter the outbox with the batch.
type Announcer interface {
	Announce() []Announcement
}

// Announcement is an event of the outbox. Once is a text that no other event has.
type Announcement struct {
	Kind        leaderboard.EventKind
	Board, Once string
	Data        any
	Members     []leaderboard.EventMember
}

// AuditChange is the content of a row of the audit.
type AuditChange = audit.Change

// Attempt is a submission on its way through a batch.
type Attempt struct {
	Board  *Board // nil: no board takes it
	Sub    *leaderboard.Submission
	Caller *leaderboard.Caller
	Start  leaderboard.Micros // when the play of the submission began, 0 without one
	result *leaderboard.Result
}

// PartOf returns the part of a type that a board has, or the zero value.
func PartOf[T BoardPart](b *Board) (part T) {
	for _, p := range b.parts {
		if found, ok := p.(T); ok {
			return found
		}
	}
	return part
}

// PartsOf returns the parts of a type.
func PartsOf[T BoardPart](parts []BoardPart) []T {
	out := make([]T, 0, len(parts))
	for _, p := range parts {
		if found, ok := p.(T); ok {
			out = append(out, found)
		}
	}
	return out
}

// begin asks the features for their parts of a board.
func (b *Board) begin(features []Part, n *Needs) {
	b.parts, b.asides = make([]BoardPart, len(features)), nil
	for i, f := range features {
		b.parts[i] = f.On(b, n)
		if a, ok := b.parts[i].(Aside); ok {
			b.asides = append(b.asides, a)
		}
	}
}

// same reports whether features read the same by two sets of rules.
func same(features []Part, now, then *leaderboard.Rules) bool {
	for _, f := range features {
		if !f.Same(now, then) {
			return false
		}
	}
	return true
}

// each calls do for the parts of a board that are a T.
func each[T any](b *Board, do func(T)) {
	for _, p := range b.parts {
		if part, ok := p.(T); ok {
			do(part)
		}
	}
}

// first calls do for the parts of a board that are a T until one returns an error, which it returns.
func first[T any](b *Board, do func(T) error) error {
	for _, p := range b.parts {
		if part, ok := p.(T); ok {
			if err := do(part); err != nil {
				return err
			}
		}
	}
	return nil
}

// Needs are the data of one board that the requests of a batch need.
type Needs struct {
	keys        []string // idempotency keys
	members     []string // after tidy each once, in byte order; ids that no member can have are left out
	removed     []string // members whose entries that are set aside are read even without a reason for it
	past        []pastEntries
	submissions []*leaderboard.Submission // of members
	works       []Work
}

// Members returns the members whose entries the batch reads, each once, in byte order.
func (n *Needs) Members() []string { return n.members }

// Submissions returns the submissions to the board, without ids that no member can have.
func (n *Needs) Submissions() []*leaderboard.Submission { return n.submissions }

// Works returns the requests of features.
func (n *Needs) Works() []Work { return n.works }

// Entries asks for the entries of a member, also when they are set aside, in the current periods and in the named ones.
func (n *Needs) Entries(member string, periods []int64) {
	n.members, n.removed = append(n.members, member), append(n.removed, member)
	n.past = append(n.past, pastEntries{member, periods})
}

// pastEntries asks for the entries of a member in periods that a request names, whether current or not.
type pastEntries struct {
	member  string
	periods []int64
}

func (n *Needs) addAll(entries []leaderboard.Submission) {
	for i := range entries {
		n.add(&entries[i])
	}
}

// add adds the needs of a submission.
func (n *Needs) add(s *leaderboard.Submission) {
	if leaderboard.CheckMember(s.Member) == nil {
		n.members, n.submissions = append(n.members, s.Member), append(n.submissions, s)
	}
}

// tidy sorts the needs.
func (n *Needs) tidy() {
	slices.Sort(n.members)
	n.members = slices.Compact(n.members)
}

// Work is a request of a feature. It waits in the queue of a board and is carried out under its lock, with submissions.
type Work interface {
	// Collect adds the data that the work needs from the board.
	Collect(n *Needs)
	// Apply carries the work out, in memory. A batch is repeated after a deadlock, so it starts from nothing each time. Its error
	// concerns only this work, which then has changed nothing.
	Apply(b *Board, by leaderboard.Caller) error
}
