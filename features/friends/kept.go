package friends

import (
	"context"
	"slices"
	"time"

	"leaderboard/cache"
	"leaderboard/leaderboard"
)

// keptList is a list and the version that it is at least as new as.
type keptList struct {
	version leaderboard.Micros
	members []string
}

// listsTogether is how many lists are read in one statement.
const listsTogether = 16

func (s *Store) newKept() *cache.Loader[keptList] {
	// A list of friends is large, and a new friend must show soon: so its version is asked for every second, and the list when
	// that has changed. Without the list there is no answer, so the wait for it is long.
	return cache.NewLoader(s.fetch, sizeOfList, cache.LoaderOptions{TTL: time.Second, Batch: 64, Bytes: 32 << 20, Timeout: 5 * time.Second})
}

// fetch reads the lists whose version differs from the cached one. The versions come first: a list that is changed in
// between is newer than its version, and read again the next time.
func (s *Store) fetch(ctx context.Context, members []string, old map[string]keptList) (map[string]keptList, error) {
	versions, err := s.versions(ctx, members)
	if err != nil {
		return nil, err
	}
	out := make(map[string]keptList, len(versions))
	var changed []string
	for m, version := range versions {
		if out[m] = old[m]; out[m].version != version {
			changed = append(changed, m)
		}
	}
	for chunk := range slices.Chunk(changed, listsTogether) {
		lists, err := s.lists(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, m := range chunk {
			out[m] = keptList{versions[m], lists[m]}
		}
	}
	return out, nil
}

// sizeOfList returns the size of a list in bytes, roughly.
func sizeOfList(list keptList) int {
	const header = 16
	n := 0
	for _, m := range list.members {
		n += header + len(m)
	}
	return n
}

// FriendsOf returns the friends of each of members, in their order. A list may be a second old unless it was changed here. With an
// error the lists are the kept ones, of any age. The caller must not change them.
func (s *Store) FriendsOf(ctx context.Context, members []string) ([][]string, error) {
	lists, err := s.kept.Of(ctx, members)
	out := make([][]string, len(lists))
	for i := range lists {
		out[i] = lists[i].members
	}
	return out, err
}
