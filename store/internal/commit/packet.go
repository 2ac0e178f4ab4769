package commit

import "leaderboard"

const (
	// packetRow is what an entry of a request may take of a packet, in bytes: eight windows with a member of 64 bytes, each a
	// row of entries, one of the change log and a period to move, with a record and a receipt that
	// name all tiebreak fields.
	packetRow = 12 << 10
	// packetRest is what else may be in it.
	packetRest = 64 << 10
)

// MaxPacket returns how many bytes the largest packet of statements takes when a batch has so many entries at most, unless
// a single request has more.
func MaxPacket(batch int) int64 {
	return packetRow*int64(max(batch, leaderboard.MaxLimit)) + packetRest
}
