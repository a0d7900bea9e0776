// Package parallel divides tasks among goroutines.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Each calls do for 0 to n-1, which begin in this order, by so many workers at a time, at least one. Workers have
// numbers from 0.
func Each(workers, n int, do func(worker, i int)) {
	if workers = min(workers, n); workers <= 1 {
		for i := range n {
			do(0, i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(worker, i)
			}
		})
	}
	group.Wait()
}
