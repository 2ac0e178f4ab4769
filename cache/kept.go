package cache

import (
	"context"

	"leaderboard/cache/feed"
	"leaderboard/internal/bounded"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Sizes of kept answers in bytes, roughly, with the JSON that is kept of them.
const (
	answerBytes = 600
	stateBytes  = 100
	entryBytes  = 220
)

// kept is the layer of the answers that this process gave: each is good while the feed shows its revision, and is served,
// marked stale, while no layer behind it answers. Errors are never kept.
type kept struct {
	opts    *ReaderOptions
	answers *bounded.Map[string, *keptAnswer]
	tops    *bounded.Map[topKey, *keptAnswer] // the last good first pages, which no other answer pushes out
}

func newKept(o *ReaderOptions) *kept {
	const topBytes = topPeriods * (answerBytes + topLimit*entryBytes)
	return &kept{o, bounded.New[string, *keptAnswer](o.LocalEntries, o.LocalBytes), bounded.New[topKey, *keptAnswer](topPeriods, topBytes)}
}

// find implements layer.
func (k *kept) find(ctx context.Context, q *pending) (leaderboard.Answered, error) {
	h, ok := k.answers.Get(q.key())
	now := k.opts.Now()
	if !ok || h.age(now) > k.opts.StaleLimit || !h.reaches(q) {
		q.last = k.top(q)
		return nil, nil
	}
	if q.last = h; k.opts.Feed == nil && now.Sub(h.read) > k.opts.FreshFor {
		return nil, nil
	}
	if of := trace.From(ctx); of.On() {
		endRead(of.Start("read memory", trace.KindInternal), q.refs(), true, nil)
	}
	return h.answer, nil
}

// outdated implements layer.
func (k *kept) outdated(_ context.Context, q *pending, _ leaderboard.Answered, v feed.Verdict, _ int) bool {
	if v == feed.VerdictDiverged {
		k.answers.Delete(q.key())
		if key, _, ok := topKeyOf(q); ok {
			k.tops.Delete(key)
		}
		q.last = nil
	}
	return false
}

// put keeps a good answer, and returns the form in which it goes out. Callers with the same question get one object, which is
// encoded once.
func (k *kept) put(q *pending, a leaderboard.Answered) leaderboard.Answered {
	next := &keptAnswer{confirmation: confirmation{read: k.opts.Now()}, answer: a.From(leaderboard.SourceLocal, false)}
	if page, ok := next.answer.(*leaderboard.Page); ok {
		page.Encoded = new(leaderboard.Encoded)
	}
	out, bytes := next.answer, len(q.key())+answerBytes+stateBytes*len(q.refs())+entryBytes*a.Len()
	k.answers.Update(q.key(), bytes, func(last *keptAnswer, ok bool) *keptAnswer {
		switch {
		case ok && last.isAt(q, a):
			next, out = last, last.answer
			last.confirm(k.opts.Now())
			return last
		case ok && last.isNewer(q, a):
			return last
		}
		return next
	})
	k.putTop(q, next)
	return out
}

const (
	// topLimit is the length of the first pages that are remembered.
	topLimit = 100
	// topPeriods is for how many periods they are.
	topPeriods = 1000
)

type topKey struct {
	periods string
	mode    leaderboard.Mode
	short   bool // two pages of each are remembered
}

// topKeyOf returns the key under which the first page of a period that still changes is remembered, and the question for
// it; ok is false for other questions.
func topKeyOf(q *pending) (key topKey, page *pageQuestion, ok bool) {
	page, ok = q.question.(*pageQuestion)
	if !ok || !page.forMany() || page.Limit > topLimit || page.onePeriod[0].Closed {
		return key, nil, false
	}
	return topKey{string(appendPeriods(nil, page.refs())), page.Mode, page.Limit <= leaderboard.DefaultLimit}, page, true
}

func (k *kept) putTop(q *pending, page *keptAnswer) {
	key, _, ok := topKeyOf(q)
	if !ok {
		return
	}
	k.tops.Update(key, answerBytes+entryBytes*page.answer.Len(), func(last *keptAnswer, ok bool) *keptAnswer {
		if ok && (last.isNewer(q, page.answer) || last.isAt(q, page.answer) && last.answer.Len() > page.answer.Len()) {
			return last
		}
		return page
	})
}

// top returns a remembered first page, cut to the limit, to use in place of a failure; nil if there is no such page.
func (k *kept) top(q *pending) *keptAnswer {
	key, page, ok := topKeyOf(q)
	if !ok {
		return nil
	}
	h, ok := k.tops.Get(key)
	if !ok || h.age(k.opts.Now()) > k.opts.StaleLimit || !h.reaches(q) {
		return nil
	}
	last := h.answer.(*leaderboard.Page)
	switch n := len(last.Entries); {
	case page.Limit == n, page.Limit > n && last.Next == "":
		return h
	case page.Limit > n:
		return nil
	}
	cut := &leaderboard.Page{State: last.State, Entries: last.Entries[:page.Limit]}
	if page.Limit > 0 {
		cut.Next = string(rank.CodecOf(page.onePeriod[0].Rules).Key(last.Entries[page.Limit-1].Entry))
	}
	return &keptAnswer{confirmation: confirmation{read: h.read}, answer: cut}
}
