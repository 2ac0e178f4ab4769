package rank

// Merge merges sorted runs: entry by entry it calls yield with the number of the run that has the next entry, until
// yield returns false or all runs end. Equal entries come in the order of their runs. It takes O(log runs) comparisons
// per entry.
func Merge[E any](runs [][]E, compare func(a, b E) int, yield func(run int) bool) {
	at := make([]int, len(runs))
	before := func(a, b int) bool {
		c := compare(runs[a][at[a]], runs[b][at[b]])
		return c < 0 || c == 0 && a < b
	}
	heap := make([]int, 0, len(runs)) // of runs by their next entry; heap[0] has the first
	down := func(i int) {
		for {
			least := i
			for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
				if before(heap[child], heap[least]) {
					least = child
				}
			}
			if least == i {
				return
			}
			heap[i], heap[least] = heap[least], heap[i]
			i = least
		}
	}
	for run := range runs {
		if len(runs[run]) > 0 {
			heap = append(heap, run)
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		down(i)
	}
	for len(heap) > 0 {
		run := heap[0]
		if !yield(run) {
			return
		}
		if at[run]++; at[run] == len(runs[run]) {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		down(0)
	}
}
