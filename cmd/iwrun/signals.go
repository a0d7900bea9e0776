package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onSignals calls the functions one after the other, each for one SIGINT or SIGTERM,
// until release is called.
func onSignals(actions ...func()) (release func()) {
	signals := make(chan os.Signal, len(actions))
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	released := make(chan struct{})
	go func() {
		for _, act := range actions {
			select {
			case <-signals:
				act()
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
