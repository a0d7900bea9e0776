// Package enginetest makes a test's own binary iwrun-torch.
package enginetest

import (
	"os"
	"strconv"
	"testing"

	"iwda/experiments/engine"
	"iwda/experiments/engine/serve"
	"iwda/experiments/schedule"
)

// Play is for TestMain. It ends where this process was started as iwrun-torch, after it has called before. Otherwise it
// has this process and those that it starts find iwrun-torch in this binary.
func Play(before func()) {
	if len(os.Args) > 2 && os.Args[1] == strconv.Itoa(engine.Protocol) {
		before()
		gone := func() { os.Exit(schedule.StoppedStatus) }
		os.Exit(serve.Run(os.Args[1:], serve.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Gone: gone}))
	}
	this, err := os.Executable()
	if err == nil {
		err = os.Setenv(engine.Variable, this)
	}
	if err != nil {
		panic(err)
	}
}

// Main is the TestMain of a package whose tests ask a process, which it closes behind them.
func Main(m *testing.M, asked *engine.Process) {
	Play(func() {})
	status := m.Run()
	asked.Close()
	os.Exit(status)
}
