// Package derive keeps derived boards at the heels of their sources: it decides when a step is taken, the store knows how.
//
// Every process lists the derived boards and has one goroutine for each. Of several processes one leads a board, by a lock
// that only saves work; what makes a step right is that the store writes it only if nobody else was faster. A step is
// taken when a source has a commit from this process, and otherwise once a second: that is how commits of other processes
// and turns of the day are seen. After a step the goroutine rests for a quarter of the time that it took at least; a turn of the day, which
// touches most of a board, rests within the step, and has a place of its own among those under way: the others go on.
package derive
