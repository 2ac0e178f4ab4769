package wire

import "bytes"

// Outline is the form of a JSON text. For invalid JSON its numbers are no exact counts, but grow with the text.
type Outline struct {
	Elements int // of the arrays of an object, without elements of arrays inside them
	Values   int // of all arrays and objects together
	Depth    int // the deepest nesting of arrays and objects
}

// OutlineOf returns the outline of a body without decoding it, in time that is linear in the bytes.
func OutlineOf(body []byte) (of Outline) {
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
			of.Values++
			if depth++; depth == 2 {
				full = false
			}
			of.Depth = max(of.Depth, depth)
		case ']', '}':
			if depth == 2 && full && body[i] == ']' {
				of.Elements++
			}
			depth--
		case ',':
			of.Values++
			if depth == 2 {
				of.Elements++
			}
		case ' ', '\t', '\n', '\r', ':':
		default:
			if depth == 2 {
				full = true
			}
		}
	}
	return of
}

// endOfString returns the end of a string whose first byte is at i.
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
