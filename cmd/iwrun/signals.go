package main

import (
	"os"
	"os/signal"
	"syscall"

	"iwda/internal/commandline"
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
