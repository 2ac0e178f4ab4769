package httpapi

import (
	"cmp"
	"context"
	"slices"

	"leaderboard"
)

// fakeFollowers are the followers of boards, for which nothing waits.
type fakeFollowers struct {
	boards map[int64][]leaderboard.Follower
}

func (f *fake) PutFollower(_ context.Context, b leaderboard.Board, p leaderboard.Follower) (leaderboard.Follower, bool, error) {
	if err := f.enter("PutFollower"); err != nil {
		return p, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	list := f.followers.boards[b.ID]
	p.CreatedTime, p.Seen = 1_700_000_000_000_000, 1_700_000_000_000_000
	i := slices.IndexFunc(list, func(old leaderboard.Follower) bool { return old.Name == p.Name })
	if i >= 0 {
		list[i] = p
		return p, false, nil
	}
	list = append(list, p)
	slices.SortFunc(list, func(a, b leaderboard.Follower) int { return cmp.Compare(a.Name, b.Name) })
	f.followers.boards[b.ID] = list
	return p, true, nil
}

func (f *fake) Followers(_ context.Context, board int64) ([]leaderboard.Follower, error) {
	err := f.enter("Followers")
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.followers.boards[board]), err
}

func (f *fake) Follower(_ context.Context, board int64, name string) (leaderboard.Follower, error) {
	if err := f.enter("Follower"); err != nil {
		return leaderboard.Follower{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.followers.boards[board] {
		if one.Name == name {
			return one, nil
		}
	}
	return leaderboard.Follower{}, leaderboard.ErrFollowerNotFound
}

func (f *fake) DeleteFollower(_ context.Context, b leaderboard.Board, name string) error {
	if err := f.enter("DeleteFollower"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	list := f.followers.boards[b.ID]
	i := slices.IndexFunc(list, func(old leaderboard.Follower) bool { return old.Name == name })
	if i < 0 {
		return leaderboard.ErrFollowerNotFound
	}
	f.followers.boards[b.ID] = slices.Delete(list, i, i+1)
	return nil
}
