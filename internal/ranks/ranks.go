// Package ranks starts a test's own binary several times, with the variables that
// torchrun sets for the processes of a group. What a process does there, TestMain decides
// by a variable of the test's own.
package ranks

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"iwda/internal/input"
)

// Process is one of a group.
type Process struct {
	t       testing.TB
	command *exec.Cmd
	output  string // the file of what it prints
	ended   chan struct{}
}

// said is what the process has printed so far.
func (p *Process) said() string {
	p.t.Helper()
	text, err := input.Read(p.output, input.Text)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// Start starts a group of that many processes on this machine. Those that still run at
// the end of the test are killed.
func Start(t testing.TB, size int, environment ...string) []*Process {
	t.Helper()
	port := freePort(t)
	processes := make([]*Process, size)
	for rank := range processes {
		output, err := os.Create(filepath.Join(t.TempDir(), "output"))
		if err != nil {
			t.Fatal(err)
		}
		defer output.Close()
		p := &Process{t: t, command: exec.Command(os.Args[0], "-test.run=^$"), output: output.Name(), ended: make(chan struct{})}
		p.command.Env = append(append(os.Environ(), environment...), Variables(rank, size, port)...)
		p.command.Stdout, p.command.Stderr = output, output
		if err := p.command.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			p.command.Wait()
			close(p.ended)
		}()
		t.Cleanup(func() {
			p.Kill()
			<-p.ended
		})
		processes[rank] = p
	}
	return processes
}

// Variables are those of a process of a group on this machine.
func Variables(rank, size, port int) []string {
	return []string{
		fmt.Sprintf("RANK=%d", rank), fmt.Sprintf("LOCAL_RANK=%d", rank), fmt.Sprintf("WORLD_SIZE=%d", size),
		"MASTER_ADDR=127.0.0.1", fmt.Sprintf("MASTER_PORT=%d", port),
	}
}

// freePort returns a port of this machine on which nobody listens.
func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// patience is how long a test waits for what must happen.
const patience = 5 * time.Minute

// Wait waits for the end of the process and returns its exit status, -1 where a signal
// ended it, and what it printed.
func (p *Process) Wait() (status int, said string) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("a process of the group does not end")
	}
	return p.command.ProcessState.ExitCode(), p.said()
}

// WaitToSay waits until the process has printed that text.
func (p *Process) WaitToSay(text string) {
	p.t.Helper()
	for begun := time.Now(); !strings.Contains(p.said(), text); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > patience {
			p.t.Fatalf("a process of the group does not say %q; it said:\n%s", text, p.said())
		}
	}
}

// Kill ends the process at once.
func (p *Process) Kill() { p.command.Process.Kill() }
