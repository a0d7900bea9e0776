package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"testing"

	"iwda/internal/must"
)

// TestRepeatedSignals: SIGTERM asks once, however often it comes; a repeated SIGINT does
// more.
func TestRepeatedSignals(t *testing.T) {
	var interrupted atomic.Bool
	first, second := make(chan bool), make(chan bool, 1)
	defer onSignals(func() { first <- true }, func() { second <- interrupted.Load() })()
	// The kernel may hand a signal to a thread that does not run at the moment. One that came
	// after the test, when nothing catches it, would end the process.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(caught)
	send := func(signal syscall.Signal) {
		t.Helper()
		must.Do(t, syscall.Kill(syscall.Getpid(), signal))
		<-caught
	}
	send(syscall.SIGTERM)
	<-first
	send(syscall.SIGTERM)
	select { // what a second action would need at most
	case <-second:
		t.Fatal("the second SIGTERM counted")
	default:
	}
	interrupted.Store(true)
	send(syscall.SIGINT)
	if after := <-second; !after {
		t.Error("the second SIGTERM counted")
	}
}

func TestOnSignals(t *testing.T) {
	called := make(chan int)
	release := onSignals(func() { called <- 1 }, func() { called <- 2 })
	defer release()
	for want := 1; want <= 2; want++ {
		must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
		if got := <-called; got != want {
			t.Errorf("signal %d called action %d", want, got)
		}
	}
}
