package panels

import (
	"runtime"
	"sync"
	"testing"
)

// Every group is worked on once, and none is under way any more when EachGroup returns, however
// many cores there are.
func TestEachGroup(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const rows, classes = 40*Height + 1, 2
	for _, processors := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(processors)
		p := &Panels{Rows: rows, Classes: classes, Data: make([]float64, rows*classes)}
		for range 200 {
			var mutex sync.Mutex
			seen, next := map[int]bool{}, 0
			visited := make([]int, p.Count()) // not under the mutex: panels belong to one group
			p.EachGroup(worthwhile, func(group, first, last int) {
				for panel := first; panel < last; panel++ {
					visited[panel]++
				}
				mutex.Lock()
				defer mutex.Unlock()
				seen[group] = true
				next += last - first
			})
			if len(seen) != p.Groups() || next != p.Count() {
				t.Fatalf("%d processors: %d groups of %d, %d panels of %d", processors, len(seen), p.Groups(), next, p.Count())
			}
			for panel, times := range visited {
				if times != 1 {
					t.Fatalf("panel %d was worked on %d times", panel, times)
				}
			}
		}
	}
}
