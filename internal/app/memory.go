package app

// spareHeap is how much garbage, in bytes, may gather on top of what the collector allows by itself. That is as much as
// lives, which is little here, while each request leaves about 4 KB: the collector would run many times a second and
// take a sixth of the processor time. The price is this much more memory under load and none at rest.
const spareHeap = 48 << 20

// newSpareHeap makes a block that counts as living and is never touched, so that it takes addresses and no memory. It
// works while it is referred to. nil when the operator has set GOGC or GOMEMLIMIT: then that alone holds.
func newSpareHeap(env func(string) string) []byte {
	if env("GOGC") != "" || env("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, spareHeap)
}
