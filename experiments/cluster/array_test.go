package cluster

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"iwda/internal/must"
	"iwda/internal/printable"
	"iwda/internal/testfiles"
)

// stage holds a script of an array with commands in place of iwrun's and Slurm's.
type stage struct{ folder string }

// newStage writes a script whose iwrun does what the text, a part of a bash script, says
// once it is asked to make a run. squeue says the state.
func newStage(t *testing.T, iwrun, state string) stage {
	t.Helper()
	s := stage{folder: t.TempDir()}
	s.write(t, "iwrun", `if [ "$1" = status ]; then
  [ "${*: -2}" = "--index 1004" ] || exit 2
  printf '%s\n' 'digits: 1 run: 0 finished, 1 left' '' 'INDEX  RUN                       STATE' '1004   full/mnist-usps/dann/seed-1  left'; exit
fi
printf '%s\n' "$*" >`+printable.ShellWord(s.path("arguments"))+"\n"+iwrun)
	s.write(t, "squeue", "echo "+state)
	s.write(t, "scontrol", `printf '%s\n' "$*" >>`+printable.ShellWord(s.path("requests")))
	j := job()
	j.Program, j.Directory, j.Results, j.Indices, j.MaxArraySize = s.path("iwrun"), s.folder, s.path("my results"), []int{1004}, 1000
	files := must.Have(j.Files(s.folder))(t)
	testfiles.MakeFolder(t, s.path("logs"))
	s.write(t, "array.sh", files[1].Text)
	return s
}

func (s stage) path(name string) string { return filepath.Join(s.folder, name) }

func (s stage) write(t *testing.T, name, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "#!") {
		text = "#!/bin/bash\n" + text + "\n"
	}
	must.Do(t, os.WriteFile(s.path(name), []byte(text), 0o777))
}

// setCheckpoint writes the run's checkpoint as it is some seconds after the first one.
func (s stage) setCheckpoint(t *testing.T, seconds int) {
	t.Helper()
	path := filepath.Join(s.path("my results"), "digits", "full/mnist-usps/dann/seed-1", "checkpoint.safetensors")
	testfiles.MakeFolder(t, filepath.Dir(path))
	testfiles.Write(t, path, "")
	at := time.Unix(1_800_000_000+int64(seconds), 0)
	must.Do(t, os.Chtimes(path, at, at))
}

func (s stage) read(name string) string {
	text, _ := os.ReadFile(s.path(name))
	return string(text)
}

// run runs the script as task 4. Once the file of that name exists, it sends the signal.
func (s stage) run(t *testing.T, file string, signal syscall.Signal) (status int, output string) {
	t.Helper()
	var text bytes.Buffer
	command := exec.CommandContext(t.Context(), "bash", s.path("array.sh"))
	command.Env = append(os.Environ(), "PATH="+s.folder+":"+os.Getenv("PATH"),
		"SLURM_ARRAY_JOB_ID=77", "SLURM_ARRAY_TASK_ID=4", "SLURM_CPUS_PER_TASK=3")
	command.Stdout, command.Stderr = &text, &text
	must.Do(t, command.Start())
	if file != "" {
		for s.read(file) == "" {
			time.Sleep(5 * time.Millisecond)
		}
		command.Process.Signal(signal)
	}
	command.Wait()
	return command.ProcessState.ExitCode(), text.String()
}

// untilAsked is an iwrun that runs until SIGTERM asks it to stop.
const untilAsked = `trap 'exit 130' TERM; echo >started; while :; do sleep 0.01; done`

func TestTaskPassesOnStatusAndArguments(t *testing.T) {
	for _, exit := range []string{"0", "1", "2", "130"} {
		s := newStage(t, "exit "+exit, "RUNNING")
		status, output := s.run(t, "", 0)
		if got := string(rune('0' + status%10)); len(exit) == 1 && got != exit || status == 130 != (exit == "130") {
			t.Errorf("iwrun ended with %s, the task with %d\n%s", exit, status, output)
		}
		// Nobody asked this task to stop, so even status 130 queues nothing.
		if requests := s.read("requests"); requests != "" {
			t.Errorf("status %s: scontrol %s", exit, requests)
		}
		want := "--config " + s.path("experiment-fa085725.yaml") + " --results " + s.path("my results") + " --set methods=[dann, iwdan] " +
			"--set title=it's $HOME --index 1004 --jobs 1 --device cpu --threads 3 --checkpoint-every=10m --overwrite=true\n"
		if got := s.read("arguments"); got != want {
			t.Errorf("iwrun was called with\n%swant\n%s", got, want)
		}
	}
}

func TestStoppedTaskIsQueuedAgain(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM} {
		s := newStage(t, untilAsked, "RUNNING")
		status, output := s.run(t, "started", signal)
		if got := s.read("requests"); got != "requeue 77_4\n" || status != 0 {
			t.Errorf("%v: status %d, scontrol %q\n%s", signal, status, got, output)
		}
	}
}

func TestStoppedTaskIsNotQueuedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		iwrun, state string
		status       int
	}{
		"cancelled":                   {untilAsked, "COMPLETING", 130},
		"forgotten by the controller": {untilAsked, "", 130},
		"just finished":               {strings.Replace(untilAsked, "130", "0", 1), "RUNNING", 0},
		"just failed":                 {strings.Replace(untilAsked, "130", "1", 1), "RUNNING", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, test.iwrun, test.state)
			status, output := s.run(t, "started", syscall.SIGUSR1)
			if got := s.read("requests"); got != "" || status != test.status {
				t.Errorf("status %d, scontrol %q\n%s", status, got, output)
			}
		})
	}
}

// TestFruitlessStarts: the fourth start in a row with the same checkpoint, or with none, ends the task; one with
// progress in between begins the count anew.
func TestFruitlessStarts(t *testing.T) {
	s := newStage(t, "exit 0", "RUNNING")
	for i, seconds := range []int{0, 0, 0, 7, 7, 7, 7} {
		if seconds > 0 {
			s.setCheckpoint(t, seconds)
		}
		os.Remove(s.path("arguments"))
		status, output := s.run(t, "", 0)
		last := i == 6
		if (status == 1) != last || (s.read("arguments") == "") != last || strings.Contains(output, "brought no new checkpoint") != last {
			t.Errorf("start %d: status %d\n%s", i+1, status, output)
		}
	}
}

func TestScriptsAreBash(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("testdata", "*.sh"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%q, %v", scripts, err)
	}
	for _, script := range scripts {
		if output, err := exec.Command("bash", "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, output)
		}
	}
}
