package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"leaderboard/api"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// moderatedAtOnce is how many members of a moderation are written at the same time: the writer of a board commits waiting changes together.
const moderatedAtOnce = 16

// moderationHandlers hide, show again and remove many members at once.
type moderationHandlers struct {
	Resolver

	hides  Hides
	writer Writer
}

// moderate answers POST /v1/boards/{board}/moderation and POST /v1/moderation. After a failure the finished part stays, and the
// same request finishes the rest.
func (h *moderationHandlers) moderate(c *Call) error {
	m := leaderboard.Moderation{}
	err := c.Params.BadInput()
	if err == nil && strings.Contains(c.Route.Path, "{board}") {
		m.Board, err = c.Params.BoardName()
	}
	if err != nil {
		return err
	}
	if err := c.Decode(&m, false, &wire.Emptiness{NonEmpty: []string{"actor"}}); err != nil {
		return err
	}
	m.Actor = cmp.Or(m.Actor, c.Caller.Key)
	if err := m.Check(); err != nil {
		return err
	}
	if m.Board != "" {
		if _, b, err := h.Resolve(c, "", ""); err == nil && b.Rules.Derive != nil && m.Action == leaderboard.ModerationActionRemove {
			return wire.Reject(leaderboard.CodeDerivedBoard, "") // the next step would put the entries back
		}
	}
	unchanged, err := h.each(c.Ctx, &m)
	if err != nil {
		return wire.WriteError(err)
	}
	c.shared.traffic.wrote(len(m.Members) - len(unchanged))
	return c.SendJSON(http.StatusOK, api.Moderated{Action: m.Action, Board: m.Board, Members: len(m.Members), Unchanged: unchanged})
}

// each carries out a moderation, and returns the members without a hide, or without an entry.
func (h *moderationHandlers) each(ctx context.Context, m *leaderboard.Moderation) ([]string, error) {
	unchanged, mutex := []string{}, sync.Mutex{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(moderatedAtOnce)
	for _, member := range m.Members {
		group.Go(func() error {
			err := h.one(ctx, m, member)
			if errors.Is(err, leaderboard.ErrNotHidden) || errors.Is(err, leaderboard.ErrNotRanked) {
				mutex.Lock()
				defer mutex.Unlock()
				unchanged, err = append(unchanged, member), nil
			}
			return err
		})
	}
	err := group.Wait()
	slices.Sort(unchanged)
	return unchanged, err
}

func (h *moderationHandlers) one(ctx context.Context, m *leaderboard.Moderation, member string) (err error) {
	r := leaderboard.HideRequest{Board: m.Board, Member: member, Reason: m.Reason, Actor: m.Actor, Reopen: m.Reopen}
	switch m.Action {
	case leaderboard.ModerationActionHide:
		_, err = h.hides.Hide(ctx, r)
	case leaderboard.ModerationActionRestore:
		err = h.hides.Restore(ctx, r)
	case leaderboard.ModerationActionRemove:
		_, err = h.writer.Remove(ctx, leaderboard.RemoveRequest{Board: m.Board, Member: member, Actor: m.Actor})
	}
	return err
}
