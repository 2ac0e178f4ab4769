package storetest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Submit is the model of commit.Writer.Submit; each request is a separate commit.
func (m *Model) Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	defer m.leave()
	if err := m.enter(ctx, "Submit"); err != nil {
		return leaderboard.Receipt{}, err
	}
	r.Key = leaderboard.IdempotencyKeyOf(ctx, r.Key)
	b := m.boards[r.Board]
	if b == nil {
		return leaderboard.Receipt{}, leaderboard.ErrBoardNotFound
	}
	if known, ok := b.keys[r.Key]; ok && r.Key != "" {
		if known.atomic != r.Atomic || len(known.entries) != len(r.Entries) || (len(r.Entries) > 0 && !reflect.DeepEqual(known.entries, r.Entries)) {
			return leaderboard.Receipt{}, leaderboard.ErrKeyReused
		}
		return m.forRequest(b, known.receipt, r.Moves, true), nil
	}
	undo := m.remember(b)
	receipt, changes := m.submitTo(b, r.Entries, leaderboard.CallerOf(ctx))
	if r.Atomic && abort(pointers(receipt.Results)) {
		undo()
		changes = nil
		m.showAsIs(b, r.Entries, pointers(receipt.Results))
	}
	m.commitAll(b, changes, &receipt)
	if r.Key != "" {
		b.keys[r.Key] = modelKey{slices.Clone(r.Entries), r.Atomic, receipt}
	}
	return m.forRequest(b, receipt, r.Moves, false), nil
}

// forRequest returns a receipt in the form that its request demands: with moves or without, and without the entries when it is
// repeated.
func (m *Model) forRequest(b *modelBoard, r leaderboard.Receipt, moves, again bool) leaderboard.Receipt {
	r.Results, r.Replayed = slices.Clone(r.Results), again
	for i := range r.Results {
		if again || !moves || r.Results[i].Status.Failed() {
			r.Results[i].Old, r.Results[i].New = nil, nil
		}
	}
	if periods := m.current(b); moves && len(periods) > 0 {
		board := b.Board
		ref := periods[0].Ref(&board)
		ref.LastSeq = periods[0].LastSeq
		r.First = &ref
	}
	return r
}

// submitTo applies submissions to a board, and returns the changes of each of its current periods, to be committed.
func (m *Model) submitTo(b *modelBoard, subs []leaderboard.Submission, by leaderboard.Caller) (leaderboard.Receipt, [][]leaderboard.Change) {
	receipt := leaderboard.Receipt{Results: make([]leaderboard.Result, len(subs))}
	periods := m.current(b)
	if cal, err := b.Rules.Calendar(); err == nil && len(periods) == 0 {
		for j, sub := range subs {
			receipt.Results[j] = leaderboard.Result{Member: sub.Member, Status: leaderboard.StatusRejected, Rule: leaderboard.AsRule(cal.Outside(m.clock()))}
		}
	}
	changes := make([][]leaderboard.Change, len(periods))
	var first []leaderboard.Entry
	if len(periods) > 0 && b.Rules.Review != nil {
		first = m.firstEntries(&b.Rules, periods[0])
	}
	for j, sub := range subs {
		hidden := m.isHidden(b.ID, sub.Member)
		broken := leaderboard.AsRule(b.Rules.Allow(sub.Edit, &by))
		if broken == nil {
			broken = m.refusedPlay(b, sub, by)
		}
		if broken == nil {
			broken = m.broken(b, periods, sub, hidden)
		}
		if broken == nil && b.Rules.Review != nil {
			broken = m.hold(b, periods, sub, by, hidden, first)
		}
		for i, p := range periods {
			res, change := p.submit(&b.Rules, sub, m.clock(), hidden, broken)
			if change != nil {
				changes[i] = append(changes[i], *change)
			}
			if i == 0 {
				receipt.Results[j] = res
			}
		}
		status := receipt.Results[j].Status
		b.settlePlay(sub, by, status.Failed() && status != leaderboard.StatusHeld)
	}
	return receipt, changes
}

// BeginPlay is the model of store.Plays.BeginPlay.
func (m *Model) BeginPlay(ctx context.Context, board leaderboard.Board, member string) (leaderboard.Play, error) {
	defer m.leave()
	if err := m.enter(ctx, "BeginPlay"); err != nil {
		return leaderboard.Play{}, err
	}
	p := leaderboard.Play{ID: leaderboard.NewPlayID(), Board: board.Name, Member: member, StartedTime: m.clock()}
	if b := m.boards[board.Name]; b != nil {
		if b.plays == nil {
			b.plays = map[string]*leaderboard.Play{}
		}
		kept := p
		b.plays[member] = &kept
	}
	return p, nil
}

// refusedPlay returns why a player's submission is refused for its play.
func (m *Model) refusedPlay(b *modelBoard, sub leaderboard.Submission, by leaderboard.Caller) *leaderboard.RuleError {
	if by.Player == "" || !b.Rules.NeedsPlay() {
		return nil
	}
	return leaderboard.AsRule(b.Rules.CheckPlay(&sub, b.plays[sub.Member], m.clock()))
}

// settlePlay notes that a submission with a play was carried out or refused.
func (b *modelBoard) settlePlay(sub leaderboard.Submission, by leaderboard.Caller, failed bool) {
	p := b.plays[sub.Member]
	if by.Player == "" || !b.Rules.NeedsPlay() || p == nil || sub.Play == nil || *sub.Play != p.ID {
		return
	}
	if p.Refusals++; !failed || p.Refusals == leaderboard.MaxPlayRefusals {
		delete(b.plays, sub.Member)
	}
}

// commitAll commits the submissions to a board, and sets their states in the receipt.
func (m *Model) commitAll(b *modelBoard, changes [][]leaderboard.Change, receipt *leaderboard.Receipt) {
	periods := m.current(b)
	for i, p := range periods {
		if i < len(changes) {
			m.commit(b, p, changes[i])
		}
	}
	setSeqs(receipt, periods)
}

// remember returns a function that gives the current periods of a board the entries that they have now.
func (m *Model) remember(b *modelBoard) (undo func()) {
	var undos []func()
	for _, p := range m.current(b) {
		entries, hidden, last, metadata := maps.Clone(p.entries), maps.Clone(p.hiddenEntries), p.lastCreated, maps.Clone(p.metadata)
		undos = append(undos, func() { p.entries, p.hiddenEntries, p.lastCreated, p.metadata = entries, hidden, last, metadata })
	}
	held := b.held
	undos = append(undos, func() { b.held = held })
	return func() {
		for _, undo := range undos {
			undo()
		}
	}
}

// abort marks the results of an atomic request as aborted if one of them is rejected or unmet.
func abort(results []*leaderboard.Result) bool {
	failed := slices.ContainsFunc(results, func(r *leaderboard.Result) bool { return r.Status.Failed() })
	for _, r := range results {
		if r.Status == leaderboard.StatusHeld && failed {
			r.Status, r.Rule = leaderboard.StatusRejected, &leaderboard.RuleError{Code: leaderboard.CodeReviewNeeded}
		}
	}
	for i, r := range results {
		if r.Status != leaderboard.StatusRejected && r.Status != leaderboard.StatusUnmet {
			continue
		}
		detail := fmt.Sprintf("nothing of the request was applied, because entry %d of it is %s", i, r.Status)
		for _, other := range results {
			if other.Status == leaderboard.StatusApplied || other.Status == leaderboard.StatusUnchanged {
				other.Status, other.Rule = leaderboard.StatusAborted, &leaderboard.RuleError{Code: leaderboard.CodeAborted, Detail: detail}
			}
		}
		return true
	}
	return false
}

// showAsIs gives results the entries that their members have.
func (m *Model) showAsIs(b *modelBoard, subs []leaderboard.Submission, results []*leaderboard.Result) {
	periods := m.current(b)
	for i, r := range results {
		if len(periods) > 0 {
			show(r, periods[0].entry(subs[i].Member, m.isHidden(b.ID, subs[i].Member)), &b.Rules, &subs[i])
		}
	}
}

// show gives a result the entry (nil: none) that is there before and after it.
func show(r *leaderboard.Result, e *leaderboard.Entry, rules *leaderboard.Rules, sub *leaderboard.Submission) {
	r.Score, r.Previous, r.CreatedTime, r.Tiebreak, r.Fields = nil, nil, nil, nil, nil
	if e == nil {
		return
	}
	r.Score, r.Previous, r.CreatedTime = &e.Score, &e.Score, &e.CreatedTime
	if sub.If != nil || sub.Edit != nil {
		r.Tiebreak, r.Fields = &e.Tiebreak, rules.Tiebreak.Unpack(e.Tiebreak)
	}
}

func pointers(results []leaderboard.Result) (out []*leaderboard.Result) {
	for i := range results {
		out = append(out, &results[i])
	}
	return out
}

// SubmitMultiBoard is the model of commit.Writer.SubmitMultiBoard.
func (m *Model) SubmitMultiBoard(ctx context.Context, r leaderboard.MultiBoardRequest) (leaderboard.MultiBoardReceipt, error) {
	defer m.leave()
	if err := m.enter(ctx, "SubmitMultiBoard"); err != nil {
		return leaderboard.MultiBoardReceipt{}, err
	}
	r.Key = leaderboard.IdempotencyKeyOf(ctx, r.Key)
	if known, ok := m.multiBoard[r.Key]; ok && r.Key != "" {
		if known.atomic != r.Atomic || len(known.entries) != len(r.Entries) || (len(r.Entries) > 0 && !reflect.DeepEqual(known.entries, r.Entries)) {
			return leaderboard.MultiBoardReceipt{}, leaderboard.ErrKeyReused
		}
		return m.forBoardsRequest(known.receipt, r.Moves, true), nil
	}
	receipt := leaderboard.MultiBoardReceipt{
		Results: make([]leaderboard.BoardResult, len(r.Entries)), Boards: map[string]leaderboard.BoardSeqs{},
	}
	subs, places := map[string][]leaderboard.Submission{}, map[string][]int{}
	for i, e := range r.Entries {
		subs[e.Board], places[e.Board] = append(subs[e.Board], e.Submission), append(places[e.Board], i)
		receipt.Results[i] = leaderboard.BoardResult{Board: e.Board, Result: leaderboard.Result{
			Member: e.Member, Status: leaderboard.StatusRejected, Rule: leaderboard.NoBoard(),
		}}
	}
	var undos []func()
	changes := map[string][][]leaderboard.Change{} // by board that takes submissions
	for name := range subs {
		b := m.boards[name]
		if b == nil {
			continue
		}
		if b.Rules.Derive != nil {
			for i, at := range places[name] {
				if receipt.Results[at].Rule = leaderboard.AsRule(leaderboard.CheckMember(subs[name][i].Member)); receipt.Results[at].Rule == nil {
					receipt.Results[at].Rule = leaderboard.NotToDerived()
				}
			}
			continue
		}
		undos = append(undos, m.remember(b))
		of, changed := m.submitTo(b, subs[name], leaderboard.CallerOf(ctx))
		changes[name] = changed
		for i, at := range places[name] {
			receipt.Results[at].Result = of.Results[i]
		}
	}
	if r.Atomic {
		m.abortAll(r.Entries, receipt.Results, changes, undos)
	}
	for name, changed := range changes {
		var of leaderboard.Receipt
		m.commitAll(m.boards[name], changed, &of)
		receipt.Boards[name] = leaderboard.BoardSeqs{Seq: of.Seq, Seqs: of.Seqs}
	}
	if r.Key != "" {
		m.multiBoard[r.Key] = multiBoardKey{slices.Clone(r.Entries), r.Atomic, receipt}
	}
	return m.forBoardsRequest(receipt, r.Moves, false), nil
}

// forBoardsRequest returns a receipt for several boards in the form that its request demands.
func (m *Model) forBoardsRequest(r leaderboard.MultiBoardReceipt, moves, again bool) leaderboard.MultiBoardReceipt {
	out := leaderboard.MultiBoardReceipt{Results: slices.Clone(r.Results), Boards: map[string]leaderboard.BoardSeqs{}, Replayed: again}
	for i := range out.Results {
		if again || !moves || out.Results[i].Status.Failed() {
			out.Results[i].Old, out.Results[i].New = nil, nil
		}
	}
	for name, seqs := range r.Boards {
		if b := m.boards[name]; b != nil {
			seqs.First = m.forRequest(b, leaderboard.Receipt{}, moves, again).First
		}
		out.Boards[name] = seqs
	}
	return out
}

// abortAll takes an atomic request to several boards back, if one of its entries is rejected or unmet.
func (m *Model) abortAll(entries []leaderboard.BoardSubmission, results []leaderboard.BoardResult, changes map[string][][]leaderboard.Change, undos []func()) {
	all := make([]*leaderboard.Result, len(results))
	for i := range results {
		all[i] = &results[i].Result
	}
	if !abort(all) {
		return
	}
	for _, undo := range undos {
		undo()
	}
	for name := range changes {
		changes[name] = nil
	}
	for i, e := range entries {
		if _, takes := changes[e.Board]; takes {
			m.showAsIs(m.boards[e.Board], []leaderboard.Submission{e.Submission}, all[i:i+1])
		}
	}
}

// Remove is the model of commit.Writer.Remove.
func (m *Model) Remove(ctx context.Context, r leaderboard.RemoveRequest) (leaderboard.Receipt, error) {
	defer m.leave()
	if err := m.enter(ctx, "Remove"); err != nil {
		return leaderboard.Receipt{}, err
	}
	b := m.boards[r.Board]
	if b == nil {
		return leaderboard.Receipt{}, leaderboard.ErrBoardNotFound
	}
	current := m.current(b)
	from := current
	if r.PeriodID != 0 {
		p := m.periods[r.PeriodID]
		if p == nil || p.BoardID != b.ID {
			return leaderboard.Receipt{}, leaderboard.ErrPeriodNotFound
		}
		if p.State == leaderboard.PeriodStateClosed && !r.Reopen {
			return leaderboard.Receipt{}, leaderboard.ErrPeriodClosed
		}
		from = []*modelPeriod{p}
	}
	receipt := leaderboard.Receipt{}
	for _, p := range from {
		old, visible := p.entries[r.Member]
		if kept, ok := p.hiddenEntries[r.Member]; ok && !visible {
			old = kept
		} else if !visible {
			continue
		}
		if len(receipt.Results) == 0 {
			receipt.Results = []leaderboard.Result{{Member: r.Member, Status: leaderboard.StatusApplied, Previous: &old.Score}}
		}
		m.removeEntry(b, p, r.Member, r.Actor)
	}
	if len(receipt.Results) == 0 {
		return leaderboard.Receipt{}, leaderboard.ErrNotRanked
	}
	if setSeqs(&receipt, current); r.PeriodID != 0 && !slices.Contains(current, from[0]) {
		receipt.Seq, receipt.Seqs = from[0].LastSeq, nil
	}
	return receipt, nil
}

// removeEntry removes the entry that a member has, the hidden one too; of a closed period that is recorded.
func (m *Model) removeEntry(b *modelBoard, p *modelPeriod, member, actor string) {
	_, hidden := p.hiddenEntries[member]
	old, visible := p.entries[member]
	delete(p.hiddenEntries, member)
	delete(p.entries, member)
	delete(p.metadata, member)
	removed := int64(0)
	if visible {
		m.commit(b, p, []leaderboard.Change{{Member: member, Old: &old}})
		removed = 1
	}
	if p.State == leaderboard.PeriodStateClosed && (visible || hidden) {
		m.recordCorrection(b, p, actor, removed)
	}
}

func setSeqs(r *leaderboard.Receipt, periods []*modelPeriod) {
	if len(periods) == 0 {
		return
	}
	r.Seq = periods[0].LastSeq
	if len(periods) > 1 {
		r.Seqs = map[leaderboard.Window]int64{}
		for _, p := range periods {
			r.Seqs[p.Window] = p.LastSeq
		}
	}
}

// broken returns the rule that a submission breaks in the first period in which it breaks one: then no period takes it.
func (m *Model) broken(b *modelBoard, periods []*modelPeriod, sub leaderboard.Submission, hidden bool) *leaderboard.RuleError {
	for i, p := range periods {
		_, _, err := b.Rules.Apply(p.entry(sub.Member, hidden), sub, m.clock(), m.clock())
		broken := leaderboard.AsRule(err)
		if broken != nil && i > 0 {
			broken = &leaderboard.RuleError{Code: broken.Code, Detail: "in window " + string(p.Window) + ": " + broken.Detail, Fields: broken.Fields}
		}
		if broken != nil {
			return broken
		}
	}
	return nil
}

func (p *modelPeriod) entry(member string, hidden bool) *leaderboard.Entry {
	entries := p.entries
	if hidden {
		entries = p.hiddenEntries
	}
	if e, ok := entries[member]; ok {
		return &e
	}
	return nil
}

func (p *modelPeriod) submit(rules *leaderboard.Rules, sub leaderboard.Submission, clock leaderboard.Micros, hidden bool, broken *leaderboard.RuleError) (leaderboard.Result, *leaderboard.Change) {
	cur := p.entry(sub.Member, hidden)
	res := leaderboard.Result{Member: sub.Member, Status: leaderboard.StatusUnchanged}
	show(&res, cur, rules, &sub)
	if broken != nil {
		res.Status, res.Rule = leaderboard.StatusRejected, broken
		switch broken.Code {
		case leaderboard.CodeConditionUnmet:
			res.Status = leaderboard.StatusUnmet
		case leaderboard.CodeHeld:
			res.Status = leaderboard.StatusHeld
		}
		return res, nil
	}
	now := max(clock, p.lastCreated+1)
	next, changed, _ := rules.Apply(cur, sub, now, clock)
	res.Old, res.New = cur, cur
	if !changed {
		return res, nil
	}
	if sub.CreatedTime == nil && next.CreatedTime == now {
		p.lastCreated = now
	}
	if _, had := p.metadata[sub.Member]; sub.Metadata != "" || had && (sub.Edit == nil || !sub.Edit.NoScore) {
		p.metadata[sub.Member] = sub.Metadata
	}
	was := res.Previous
	show(&res, &next, rules, &sub)
	res.Status, res.Previous, res.New = leaderboard.StatusApplied, was, &next
	if hidden {
		p.hiddenEntries[sub.Member] = next
		return res, nil
	}
	p.entries[sub.Member] = next
	return res, &leaderboard.Change{Member: sub.Member, Old: cur, New: &next}
}

// commit appends to the log, when there is anything to append.
func (m *Model) commit(b *modelBoard, p *modelPeriod, changes []leaderboard.Change) {
	if len(changes) == 0 {
		return
	}
	for i := range changes {
		changes[i].Seq = p.LastSeq + int64(i) + 1
	}
	c := leaderboard.Commit{
		PeriodID: p.ID, Incarnation: p.Incarnation, FirstSeq: p.LastSeq + 1, LastSeq: p.LastSeq + int64(len(changes)),
		PrevCommittedAt: p.Committed, CommittedAt: leaderboard.CommitTime(m.clock(), p.Committed, changes),
		EntryCount: int64(len(p.entries)), Changes: changes,
	}
	p.LastSeq, p.Committed, p.EntryCount = c.LastSeq, c.CommittedAt, c.EntryCount
	p.log = append(p.log, c)
	if m.OnCommit != nil {
		board := b.Board // the present board
		m.OnCommit(p.Period.Ref(&board), c)
	}
}

// Rewrite is the model of commit.Writer.Rewrite: the only period of a board gets these entries, by member, in place of all
// entries that it has. It returns the seq of the period then.
func (m *Model) Rewrite(ctx context.Context, board string, entries map[string]leaderboard.Entry) (int64, error) {
	defer m.leave()
	if err := m.enter(ctx, "Rewrite"); err != nil {
		return 0, err
	}
	b := m.boards[board]
	if b == nil {
		return 0, leaderboard.ErrBoardNotFound
	}
	p := m.current(b)[0]
	members := maps.Clone(entries)
	maps.Copy(members, p.entries)
	maps.Copy(members, p.hiddenEntries)
	var changes []leaderboard.Change
	for _, member := range slices.Sorted(maps.Keys(members)) {
		own, hidden := p.entries, m.isHidden(b.ID, member)
		if hidden {
			own = p.hiddenEntries
		}
		c := leaderboard.Change{Member: member}
		if old, ok := own[member]; ok {
			c.Old = &old
		}
		delete(own, member)
		if e, ok := entries[member]; ok {
			c.New, own[member] = &e, e
		}
		if !hidden && !reflect.DeepEqual(c.Old, c.New) {
			changes = append(changes, c)
		}
	}
	m.commit(b, p, changes)
	return p.LastSeq, nil
}

// Changes is the model of store.Entries.Changes.
func (m *Model) Changes(ctx context.Context, periodID, fromSeq int64, limit int) ([]leaderboard.Commit, error) {
	defer m.leave()
	if err := m.enter(ctx, "Changes"); err != nil {
		return nil, err
	}
	p := m.periods[periodID]
	if p == nil {
		return nil, leaderboard.ErrPeriodNotFound
	}
	var commits []leaderboard.Commit
	for _, c := range p.log {
		if c.LastSeq > fromSeq && len(commits) < limit {
			commits = append(commits, c)
		}
	}
	if p.LastSeq > fromSeq && (len(commits) == 0 || commits[0].From().Seq != fromSeq) {
		return nil, leaderboard.ErrLogPruned
	}
	return commits, nil
}

// CommitsSince is the model of store.Entries.CommitsSince.
func (m *Model) CommitsSince(ctx context.Context, from []leaderboard.PeriodRevision, changes int) (map[int64]leaderboard.LogPart, error) {
	defer m.leave()
	if err := m.enter(ctx, "CommitsSince"); err != nil {
		return nil, err
	}
	parts := map[int64]leaderboard.LogPart{}
	for _, r := range from {
		if p := m.periods[r.PeriodID]; p != nil {
			parts[r.PeriodID] = p.since(r.Revision, int64(changes))
		} else {
			parts[r.PeriodID] = leaderboard.LogPart{Err: leaderboard.ErrPeriodNotFound}
		}
	}
	return parts, nil
}

// logStart returns the revision that the log begins at.
func (p *modelPeriod) logStart() leaderboard.Revision {
	if len(p.log) > 0 {
		return p.log[0].From()
	}
	return p.Revision()
}

func (p *modelPeriod) since(from leaderboard.Revision, changes int64) leaderboard.LogPart {
	part := leaderboard.LogPart{At: p.Revision(), Closed: p.State == leaderboard.PeriodStateClosed}
	if start := p.logStart(); from.Seq == 0 && start.Seq == 0 && from.Incarnation == start.Incarnation { // the state at seq 0 always matches
		from = start
	}
	if from == part.At {
		return part
	}
	for _, c := range p.log {
		if c.From() == from || len(part.Commits) > 0 && c.LastSeq <= from.Seq+changes {
			part.Commits = append(part.Commits, c)
		} else if c.From().Seq == from.Seq {
			part.Err = rank.ErrDiverged
		}
	}
	switch {
	case len(part.Commits) > 0 || part.Err != nil:
	case from.Seq < part.At.Seq:
		part.Err = leaderboard.ErrLogPruned
	default:
		part.Err = rank.ErrDiverged
	}
	return part
}

// PruneLog forgets all commits of a period, as a sweep does when they are old.
func (m *Model) PruneLog(periodID int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.periods[periodID].log = nil
}

// Snapshot is the model of store.Entries.Snapshot.
func (m *Model) Snapshot(ctx context.Context, ref leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error {
	state, keys, err := m.snapshot(ctx, ref, limit)
	if err != nil {
		return err
	}
	if err := begin(state); err != nil {
		return err
	}
	for chunk := range slices.Chunk(keys, 1000) {
		if err := rows(chunk); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) snapshot(ctx context.Context, ref leaderboard.PeriodRef, limit int) (leaderboard.State, []rank.Key, error) {
	defer m.leave()
	v, err := m.look(ctx, "snapshot", ref, 0)
	if err != nil {
		return leaderboard.State{}, nil, err
	}
	var keys []rank.Key
	for _, e := range v.sorted[:min(limit, len(v.sorted))] {
		keys = append(keys, rank.CodecOf(ref.Rules).Key(e))
	}
	return v.state, keys, nil
}
