package httpapi

import "bytes"

// elements counts what the arrays of a JSON object have, those inside of their elements left out, without decoding it. Of
// what is not valid JSON it returns some number.
func elements(body []byte) (n int) {
	depth, full := 0, false // full: the array under way has an element
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			if i = endOfString(body, i+1); depth == 2 {
				full = true
			}
		case '[', '{':
			if depth == 2 {
				full = true
			}
			if depth++; depth == 2 {
				full = false
			}
		case ']', '}':
			if depth == 2 && full && body[i] == ']' {
				n++
			}
			depth--
		case ',':
			if depth == 2 {
				n++
			}
		case ' ', '\t', '\n', '\r', ':':
		default:
			if depth == 2 {
				full = true
			}
		}
	}
	return n
}

// endOfString returns where a string ends whose first byte is at i.
func endOfString(body []byte, i int) int {
	for i < len(body) {
		next := bytes.IndexByte(body[i:], '"')
		if next < 0 {
			return len(body)
		}
		backslashes := 0
		for at := i + next - 1; at >= i && body[at] == '\\'; at-- {
			backslashes++
		}
		if i += next; backslashes%2 == 0 {
			return i
		}
		i++
	}
	return i
}
