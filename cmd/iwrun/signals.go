package main

import (
	"os"
	"os/signal"
	"syscall"

	"iwda/internal/commandline"
	"iwda/internal/system"
)

// onSignals calls the functions one after the other, each for one signal to stop, until
// release is called. All but SIGINT count as the first one only: a cluster may send SIGTERM
// to all processes of a job, some of which pass it on, and SIGHUP comes to all of a terminal.
func onSignals(actions ...func()) (release func()) {
	signals := make(chan os.Signal, len(actions))
	signal.Notify(signals, commandline.ToStop()...)
	released := make(chan struct{})
	go func() {
		for called := 0; called < len(actions); {
			select {
			case received := <-signals:
				if called == 0 || received == syscall.SIGINT {
					actions[called]()
					called++
				}
			case <-released:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(released)
	}
}

// onCheckpointSignals returns a channel on which something comes after each SIGUSR1, until
// release is called, and calls noted for it. A signal that follows before the last one was
// received says nothing new and is dropped.
func onCheckpointSignals(noted func()) (wishes <-chan struct{}, release func()) {
	signals, pending := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(signals, system.Checkpoint)
	go func() {
		for range signals {
			select {
			case pending <- struct{}{}:
				noted()
			default:
			}
		}
	}()
	return pending, func() {
		signal.Stop(signals)
		close(signals)
	}
}
