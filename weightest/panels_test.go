package weightest

import (
	"runtime"
	"sync"
	"testing"
)

// Every group is worked on once, and none is under way any more when eachGroup returns, however
// many cores there are.
func TestEachGroup(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const rows, classes = 40*panelRows + 1, 2
	for _, processors := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(processors)
		for _, alone := range []bool{false, true} {
			p := &panels{rows: rows, classes: classes, data: make([]float64, rows*classes), alone: alone}
			for range 200 {
				var mutex sync.Mutex
				seen, next := map[int]bool{}, 0
				visited := make([]int, p.count()) // not under the mutex: panels belong to one group
				p.eachGroup(worthwhile, func(group, first, last int) {
					for panel := first; panel < last; panel++ {
						visited[panel]++
					}
					mutex.Lock()
					defer mutex.Unlock()
					seen[group] = true
					next += last - first
				})
				if len(seen) != p.groups() || next != p.count() {
					t.Fatalf("%d processors, alone %v: %d groups of %d, %d panels of %d", processors, alone, len(seen), p.groups(), next, p.count())
				}
				for panel, times := range visited {
					if times != 1 {
						t.Fatalf("panel %d was worked on %d times", panel, times)
					}
				}
			}
		}
	}
}
