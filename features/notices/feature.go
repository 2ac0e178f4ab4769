// Package notices finds out who was passed, and enters that as events.
//
// Read passed.go (who was passed by each change of a log), read.go (what it needs to know of a period), and fold.go (where a board's
// log is read on, and how events and the place up to which it was read are one transaction).
package notices

import "leaderboard/features"

// Feature returns what the folder registers. It offers its Folder to what sends events, which has it work.
func Feature() features.Feature {
	return features.Feature{Name: "notices", Open: func(e *features.Engine) features.Opened {
		return features.Opened{Board: set, Purge: []string{purge}, Offers: []any{NewFolder(e.DB, e.Boards, e.Server.Point)}}
	}}
}

const purge = "DELETE FROM notice_boards WHERE board_id = ? LIMIT ?"
