package main

import (
	"sync/atomic"
	"syscall"
	"testing"
)

// TestRepeatedSignals: SIGTERM asks once, however often it comes; a repeated SIGINT does
// more.
func TestRepeatedSignals(t *testing.T) {
	var interrupted atomic.Bool
	first, second := make(chan bool), make(chan bool, 1)
	defer onSignals(func() { first <- true }, func() { second <- interrupted.Load() })()
	send := func(signal syscall.Signal) {
		if err := syscall.Kill(syscall.Getpid(), signal); err != nil {
			t.Fatal(err)
		}
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
