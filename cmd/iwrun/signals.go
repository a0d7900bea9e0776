package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onSignals calls the functions one after the other, each for one SIGINT or SIGTERM,
// until release is called. SIGTERM counts as the first one only: a cluster may send it
// to all processes of a job, some of which pass it on.
func onSignals(actions ...func()) (release func()) {
	signals := make(chan os.Signal, len(actions))
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	released := make(chan struct{})
	go func() {
		for called := 0; called < len(actions); {
			select {
			case received := <-signals:
				if called == 0 || received != syscall.SIGTERM {
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
