// Package launcher reads what a launcher such as torchrun tells each of the processes that it starts to
// compute one thing together.
package launcher

import (
	"errors"
	"fmt"
	"strconv"
)

// Group is the processes that a launcher has started, as one of them knows it.
type Group struct {
	Rank, Size int    // of this process, from 0, and of the group
	Host       string // where the process of rank 0 runs
	Port       int    // on which it waits for the others
	// Served says that something else waits there already, as torchrun does.
	Served bool
	// Name tells groups apart that meet at one place.
	Name string
}

// FromEnvironment returns what the variables say that torchrun sets for each of its
// processes, and any other launcher may: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
// local is LOCAL_RANK, the process's number on its machine. Without WORLD_SIZE the process is a group of
// its own: its Size is 1, and it has no Host.
func FromEnvironment(lookup func(string) (string, bool)) (g Group, local int, err error) {
	if _, ok := lookup("WORLD_SIZE"); !ok {
		return Group{Size: 1}, 0, nil
	}
	number := func(name string, low, high int) int {
		text, _ := lookup(name)
		n, wrong := strconv.Atoi(text)
		if err == nil && (wrong != nil || n < low || n > high) {
			err = fmt.Errorf("WORLD_SIZE is set, and %s is %q; want a number from %d to %d", name, text, low, high)
		}
		return n
	}
	g.Size = number("WORLD_SIZE", 1, 1<<20)
	g.Rank = number("RANK", 0, g.Size-1)
	if _, set := lookup("LOCAL_RANK"); set {
		local = number("LOCAL_RANK", 0, g.Rank)
	}
	g.Port = number("MASTER_PORT", 1, 1<<16-1)
	if g.Host, _ = lookup("MASTER_ADDR"); g.Host == "" && err == nil {
		err = errors.New("WORLD_SIZE is set, and MASTER_ADDR is not: it names the machine of the process with RANK 0")
	}
	agent, _ := lookup("TORCHELASTIC_USE_AGENT_STORE")
	g.Served = agent == "True"
	attempt, _ := lookup("TORCHELASTIC_RESTART_COUNT")
	g.Name = "attempt " + attempt
	return g, local, err
}
