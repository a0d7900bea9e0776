package cluster

import (
	"fmt"
	"strings"
)

// ranges writes ascending numbers in short, as Slurm reads them: 0-5,8.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if last == i {
			parts = append(parts, fmt.Sprint(numbers[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// block is a part of the plan whose runs are the tasks of one array.
type block struct {
	First int   // index of the run that is task 0
	Tasks []int // indices of runs, less First
}

// blocks splits ascending indices so that no task's number reaches size.
func blocks(indices []int, size int) []block {
	var all []block
	for _, index := range indices {
		first := index / size * size
		if len(all) == 0 || all[len(all)-1].First != first {
			all = append(all, block{First: first})
		}
		last := &all[len(all)-1]
		last.Tasks = append(last.Tasks, index-first)
	}
	return all
}
