package wire

import (
	"encoding/hex"
	"math/rand/v2"
	"net/http"
)

// HeaderRequestID is X-Request-Id as http.Header has it.
const HeaderRequestID = "X-Request-Id"

// MaxRequestID is the greatest length of a request id that is taken from a client.
const MaxRequestID = 128

// RequestID returns the id of the request. It makes one for a request with no id or several, and for an id that has more than
// MaxRequestID bytes or other bytes than visible ASCII. The id goes into logs, headers and the audit unchanged.
func RequestID(h http.Header) string {
	if given := h[HeaderRequestID]; len(given) == 1 && ValidRequestID(given[0]) {
		return given[0]
	}
	return NewRequestID()
}

func ValidRequestID(id string) bool {
	if id == "" || len(id) > MaxRequestID {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// NewRequestID makes an id of 96 random bits: it need not be secret, and is never the same twice.
func NewRequestID() string {
	var random [12]byte
	a, b := rand.Uint64(), rand.Uint32()
	for i := range 8 {
		random[i] = byte(a >> (8 * i))
	}
	for i := range 4 {
		random[8+i] = byte(b >> (8 * i))
	}
	return hex.EncodeToString(random[:])
}
