package wire

import "bytes"

// Numbers of 64 bits as strings: JavaScript reads JSON numbers as doubles, which are exact up to 2^53. An answer is encoded
// as usual, and rewritten for a request with numbers=string. Other requests cost nothing. Bodies may have them as strings in any case.

const (
	NumbersParam  = "numbers"
	NumbersString = "string"
	numbersNumber = "number"
)

// IsWide reports whether whole numbers under a name have 64 bits, in answers and bodies alike. A test holds it against the
// document.
func IsWide(name []byte) bool {
	switch string(name) {
	case "score", "previous_score", "new_score", "min_score", "max_score", "max_delta", "per_second", "above", "tiebreak", "new_tiebreak", "weight",
		"rank", "previous_rank", "strict_rank", "tied_rank", "dense_rank", "position",
		"seq", "from_seq", "to_seq", "last_seq", "lag", "lag_ms", "id",
		"total", "entries", "rows", "checked", "from", "to", "count":
		return true
	}
	return false
}

// IsWideList reports whether all numbers directly inside the value of a name are wide.
func IsWideList(name []byte) bool {
	switch string(name) {
	case "fields", "seqs", "limits":
		return true
	}
	return false
}

// isClients reports whether names and values directly inside the value of a name are the client's own.
func isClients(name []byte) bool {
	switch string(name) {
	case "attributes", "labels", "metadata":
		return true
	}
	return false
}

// nesting decides how the numbers directly inside an object or array are rewritten.
type nesting byte

const (
	nestingByName nesting = iota
	nestingAll            // they are wide
	nestingNone           // they are the client's own, like all numbers further inside
)

// rewriter goes through JSON and rewrites its wide numbers.
type rewriter struct {
	quote  bool // numbers get quotes, otherwise they lose them
	inside []nesting
	name   []byte // of the member whose value comes next, nil in arrays
}

// AppendNumbers appends JSON to dst, with quotes around wide numbers, or without the quotes that wide numbers have.
func AppendNumbers(dst, src []byte, quote bool) []byte {
	var room [16]nesting
	r := rewriter{quote: quote, inside: room[:0]}
	sent := 0 // of src
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			last := min(endOfString(src, i+1), len(src)) // the closing quote, if it is there
			text := src[i+1 : last]
			if isName(src[min(last+1, len(src)):]) {
				r.name = text
			} else if !r.quote && r.wide() && isInteger(text) {
				dst, sent = append(append(dst, src[sent:i]...), text...), last+1
			}
			i = last
		case c == '{' || c == '[':
			r.open()
		case c == '}' || c == ']':
			r.close()
		case c == '-' || c >= '0' && c <= '9':
			end := endOfNumber(src, i+1)
			if number := src[i:end]; r.quote && r.wide() && isInteger(number) {
				dst, sent = append(append(append(append(dst, src[sent:i]...), '"'), number...), '"'), end
			}
			i = end - 1
		}
	}
	return append(dst, src[min(sent, len(src)):]...)
}

func endOfNumber(src []byte, i int) int {
	for i < len(src) && (src[i] >= '0' && src[i] <= '9' || src[i] == '.' || src[i] == '-' || src[i] == '+' || src[i] == 'e' || src[i] == 'E') {
		i++
	}
	return i
}

func (r *rewriter) within() nesting {
	if len(r.inside) == 0 {
		return nestingByName
	}
	return r.inside[len(r.inside)-1]
}

// wide reports whether the next number is wide.
func (r *rewriter) wide() bool {
	switch r.within() {
	case nestingAll:
		return true
	case nestingByName:
		return IsWide(r.name)
	}
	return false
}

func (r *rewriter) open() {
	in := nestingByName
	switch {
	case r.within() == nestingNone || r.within() == nestingByName && isClients(r.name):
		in = nestingNone
	case r.within() == nestingByName && IsWideList(r.name):
		in = nestingAll
	}
	r.inside, r.name = append(r.inside, in), nil
}

func (r *rewriter) close() {
	r.inside, r.name = r.inside[:max(0, len(r.inside)-1)], nil
}

// isName reports whether a string was the name of a member: a colon follows it.
func isName(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// isInteger reports whether a text is a whole number as JSON has it, of any size.
func isInteger(text []byte) bool {
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	if len(text) == 0 || text[0] == '0' && len(text) > 1 {
		return false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
