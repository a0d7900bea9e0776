// Command iwrun-torch is the part of iwrun that loads libtorch: iwrun starts it to make runs, and to apply models that
// take libtorch. See package engine for what the two say to each other.
package main

import (
	"os"

	"iwda/experiments/engine/serve"
	"iwda/experiments/schedule"
)

func main() {
	gone := func() { os.Exit(schedule.StoppedStatus) }
	os.Exit(serve.Run(os.Args[1:], serve.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Gone: gone}))
}
