package commit

import "leaderboard/leaderboard"

const (
	// packetRow is the part of a packet that an entry of a request may take, in bytes: eight windows with a member of 64
	// bytes, each a row of entries, one of the change log and a period to move, with a record and a receipt that name all
	// tiebreak fields.
	packetRow = 12 << 10
	// PartRow is the share of packetRow for the parts of all features together, without metadata.
	PartRow = 9 << 8
	// packetRest is the room for everything else in a packet.
	packetRest = 64 << 10
	// packetMetadata is the part of a packet for the metadata in the largest body of a request: its text, in hexadecimal
	// digits, and the rows of all windows that refer to it.
	packetMetadata = 4 << 20
	// metadataRows is the part of packetMetadata that the rows of one entry take.
	metadataRows = 2400
)

// metadataLoad is the metadata of a request.
type metadataLoad struct{ entries, bytes int }

func (l *metadataLoad) add(sub *leaderboard.Submission) {
	if sub.Metadata != "" {
		l.entries, l.bytes = l.entries+1, l.bytes+len(sub.Metadata)
	}
}

// cost returns for how many more entries without metadata it counts in a batch, so that one of several requests takes no longer
// packet for it.
func (l *metadataLoad) cost() int {
	return (2*l.bytes + metadataRows*l.entries + packetRow - 1) / packetRow
}

// MaxPacket returns the size in bytes of the largest packet of statements for batches of at most a number of entries,
// unless a single request has more.
func MaxPacket(batch int) int64 {
	return packetRow*int64(max(batch, leaderboard.MaxLimit)) + packetRest + packetMetadata
}
