package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"iwda/internal/ranks"
)

// Two processes that a launcher started make one run; the first writes its result.
func TestProcessesOfOneRun(t *testing.T) {
	inFolder(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	var commands []*exec.Cmd
	var said [2]strings.Builder
	for rank := range 2 {
		command := exec.Command(os.Args[0], "-c", "tiny.yaml", "--only", "*/*/iwdan/*", "--device", "cpu", "--group-timeout", "3m")
		command.Env = append(append(os.Environ(), asProgram+"=yes"), ranks.Variables(rank, 2, port)...)
		command.Stdout, command.Stderr = &said[rank], &said[rank]
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		commands = append(commands, command)
	}
	for rank, command := range commands {
		if err := command.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", rank, err, &said[rank])
		}
	}
	if result, err := tinyDir("iwdan").ReadResult(); err != nil || result.Processes != 2 {
		t.Errorf("%d processes, %v", result.Processes, err)
	}
}

func TestWrongGroups(t *testing.T) {
	inFolder(t)
	for _, variable := range ranks.Variables(0, 2, 29500) {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	if status, _, text := call(t, "-c", "tiny.yaml"); status != statusWrong || !strings.Contains(text, "WORLD_SIZE is 2: that many processes make one run together, and 2 are selected") {
		t.Errorf("two runs: status %d\n%s", status, text)
	}
	t.Setenv("RANK", "2")
	if status, _, text := call(t, "-c", "tiny.yaml", "--index", "0"); status != statusWrong || !strings.Contains(text, `RANK is "2"; want a number from 0 to 1`) {
		t.Errorf("a rank that is none: status %d\n%s", status, text)
	}
}

func TestWrongNumbersOfProcesses(t *testing.T) {
	if status, _, text := call(t, "slurm", "-c", "tiny.yaml", "--nodes", "0"); status != statusWrong || !strings.Contains(text, "--nodes 0") {
		t.Error(status, fmt.Sprintf("%.200s", text))
	}
}
