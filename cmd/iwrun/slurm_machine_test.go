//go:build slurm

package main

// This file runs a Slurm of one machine for a test. It needs the programs of Debian's
// slurm-wlm and no rights beyond those of the caller.

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// slurmSettings has places for a folder, the host, the user, two ports and the largest size
// of an array. Users and credentials are not checked: everything is on this machine and
// belongs to one user.
const slurmSettings = `ClusterName=test
SlurmctldHost=%[2]s(127.0.0.1)
SlurmUser=%[3]s
SlurmdUser=%[3]s
SlurmctldPort=%[4]d
SlurmdPort=%[5]d
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd.pid
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool
AuthType=auth/none
CredType=cred/none
# A task that was queued again waits for its credential's end: seconds instead of minutes.
AuthInfo=cred_expire=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=10000,bf_interval=1,batch_sched_delay=0
MaxArraySize=%[6]d
NodeName=%[2]s NodeAddr=127.0.0.1 CPUs=8 RealMemory=1024 State=UNKNOWN
PartitionName=main Nodes=%[2]s Default=YES MaxTime=INFINITE State=UP
`

// startSlurm starts a Slurm with eight processors, sets SLURM_CONF so that its commands and
// what they start find it, and stops it at the end of the test. Arrays have numbers
// below maxArraySize.
func startSlurm(t *testing.T, maxArraySize int) {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"state", "spool"} {
		testfiles.MakeFolder(t, filepath.Join(folder, name))
	}
	host := must.Have(os.Hostname())(t)
	host, _, _ = strings.Cut(host, ".")
	who := must.Have(user.Current())(t)
	file := filepath.Join(folder, "slurm.conf")
	text := fmt.Sprintf(slurmSettings, folder, host, who.Username, freeSlurmPort(t), freeSlurmPort(t), maxArraySize)
	testfiles.Write(t, file, text)
	t.Setenv("SLURM_CONF", file)
	startSlurmDaemon(t, folder, "slurmctld", "-D")
	startSlurmDaemon(t, folder, "slurmd", "-D", "-N", host)
	t.Cleanup(func() { cancelSlurmJobs(t) })
	waitForSlurm(t, "the node is idle", func() bool { return slurmOutput(t, "sinfo", "--noheader", "--format=%T") == "idle" })
}

// freeSlurmPort returns a port that nobody listens on at the moment.
func freeSlurmPort(t *testing.T) int {
	t.Helper()
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// startSlurmDaemon starts the program, and ends it with the test. What it wrote is shown if
// the test has failed.
func startSlurmDaemon(t *testing.T, folder, name string, arguments ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil { // an ordinary user's PATH lacks the folder
		path = filepath.Join("/usr/sbin", name)
	}
	var log strings.Builder
	command := exec.Command(path, arguments...)
	command.Stdout, command.Stderr = &log, &log
	command.WaitDelay = time.Second // processes that it left may hold its output
	if err := command.Start(); err != nil {
		t.Fatalf("%v; install slurm-wlm", err)
	}
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(10*time.Second, func() { command.Process.Kill() })
		command.Wait()
		kill.Stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, log.String())
		}
	})
}

// cancelSlurmJobs ends all jobs and waits until their processes are gone.
func cancelSlurmJobs(t *testing.T) {
	exec.Command("scancel", "--state=PENDING").Run()
	exec.Command("scancel", "--state=RUNNING").Run()
	waitForSlurm(t, "the queue is empty", func() bool { return slurmOutput(t, "squeue", "--noheader") == "" })
}

// slurmDeadline is how long anything may take, on the slowest machine.
const slurmDeadline = 5 * time.Minute

// waitForSlurm returns once the condition holds, and ends the test if it never does.
func waitForSlurm(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), slurmDeadline)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited %v in vain until %s", slurmDeadline, what)
		case <-tick.C:
		}
	}
}

// slurmOutput returns what a command of Slurm prints, without space around it. Where the
// controller does not answer yet, that is what the command says about it.
func slurmOutput(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	text, err := exec.Command(name, arguments...).CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
