package leaderboard

import "sync"

// Memo keeps the encoded form of a shared answer, so that an answer served many times is encoded once.
type Memo struct {
	once sync.Once
	body []byte
}

// Do returns what encode made the first time. The caller must not write to it.
func (m *Memo) Do(encode func() []byte) []byte {
	m.once.Do(func() { m.body = encode() })
	return m.body
}
