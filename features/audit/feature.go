package audit

import (
	"leaderboard/features"
	"leaderboard/store"
)

// Feature returns the feature of the folder.
func Feature() features.Feature { return features.Feature{Name: "audit", Open: open} }

func open(e *features.Engine) features.Opened {
	s := &Store{e.DB}
	return features.Opened{Routes: Routes(s), Data: []store.Data{store.DataOf("audit", s.data)}}
}
