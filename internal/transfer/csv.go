package transfer

import "bytes"

// The faults of a CSV record. Package encoding/csv would accept some of them, and it changes line ends inside quotes, which
// would change ids of members.
const (
	faultTooLong  = "is longer than 65536 bytes"
	faultQuote    = `has a quote (") inside of a field that does not begin with one`
	faultBehind   = `has something behind a closing quote (")`
	faultUnclosed = `has a quote (") that is not closed`
	faultReturn   = "has a carriage return without a line feed"
	faultNUL      = "has a NUL byte outside of quotes; is it UTF-16?"
)

// csvRecord splits the first record of b (RFC 4180; lines may end in LF too). size is its length with the line end. The
// fields are valid as long as b. atEnd: nothing follows b; otherwise a record that does not end within b is too long.
func csvRecord(b []byte, atEnd bool, fields [][]byte) (out [][]byte, size int, fault string) {
	out = fields[:0]
	for at := 0; ; {
		field, end, fault := csvField(b[at:])
		end += at
		switch {
		case fault != "":
			return nil, 0, fault
		case end == len(b) && !atEnd:
			return nil, 0, faultTooLong
		}
		out = append(out, field)
		switch {
		case end == len(b):
			return out, end, ""
		case b[end] == ',':
			at = end + 1
		case b[end] == '\r' && end+1 == len(b) && !atEnd:
			return nil, 0, faultTooLong
		case b[end] == '\r' && end+1 < len(b) && b[end+1] != '\n':
			return nil, 0, faultReturn
		case b[end] == '\r':
			return out, min(end+2, len(b)), ""
		default:
			return out, end + 1, ""
		}
	}
}

// csvField returns the first field of b; end is the place of the comma or line end after it, or len(b).
func csvField(b []byte) (field []byte, end int, fault string) {
	if len(b) == 0 || b[0] != '"' {
		end = bytes.IndexAny(b, "\",\r\n\x00")
		switch {
		case end < 0:
			return b, len(b), ""
		case b[end] == '"':
			return nil, 0, faultQuote
		case b[end] == 0:
			return nil, 0, faultNUL
		}
		return b[:end], end, ""
	}
	var unquoted []byte // of a field with quotes in it
	for at := 1; ; {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			return nil, 0, faultUnclosed
		}
		piece := b[at : at+i]
		at += i + 1
		if at < len(b) && b[at] == '"' {
			unquoted = append(append(unquoted, piece...), '"')
			at++
			continue
		}
		if unquoted != nil {
			piece = append(unquoted, piece...)
		}
		if at < len(b) && b[at] != ',' && b[at] != '\n' && b[at] != '\r' {
			return nil, 0, faultBehind
		}
		return piece, at, ""
	}
}
