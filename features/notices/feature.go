// Package notices finds the members who were passed, and enters events about them.
//
// Read passed.go (who was passed by each change of a log), read.go (the data that it needs of a period), and fold.go (where
// reading a board's log continues, and how events and the place up to which it was read are one transaction).
package notices

import "leaderboard/features"

// Feature returns the feature of the folder. It offers its Folder to the sender of events, which calls it.
func Feature() features.Feature {
	return features.Feature{Name: "notices", Open: func(e *features.Engine) features.Opened {
		return features.Opened{Board: set, Purge: []string{purge}, Offers: []any{NewFolder(e.DB, e.Boards, e.Server.Point)}}
	}}
}

const purge = "DELETE FROM notice_boards WHERE board_id = ? LIMIT ?"
