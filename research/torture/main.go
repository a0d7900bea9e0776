// Command torture kills iwrun at random moments, again and again, and looks whether anything is
// lost or anybody fooled: runs end with the bits of one that was left alone, and what adapt, export,
// predict and labelshift replace is the former or the new, whole.
//
//	go run ./research/torture -iwrun build/iwrun -o build/torture -minutes 60
//
// Each case is a line of torture.log; started again, it makes those that are missing. It exits with
// status 1 if a case was not as it should be, and keeps its folder.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	var s session
	program := flag.String("iwrun", "build/iwrun", "the program")
	folder := flag.String("o", "build/torture", "folder of data, states and torture.log")
	minutes := flag.Float64("minutes", 60, "no case begins after that many")
	share := flag.Float64("share", 1, "of all kills: 1,000 of runs and 100 each of four commands")
	only := flag.String("only", "", "the names of scenarios, with commas between them; empty: all")
	flag.Parse()
	failed, err := s.run(*program, *folder, time.Duration(*minutes*float64(time.Minute)), *share, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// scenario is something that is killed until it has been so often.
type scenario struct {
	name  string
	kills int
	// round kills it at least once, and returns how often and what was wrong afterwards.
	round func(folder string) (kills int, err error)
}

// session is one start of the program.
type session struct {
	program string
	random  *rand.Rand
	ends    time.Time
	lengths map[string]time.Duration // of what was left alone, by command line
}

func (s *session) run(program, folder string, length time.Duration, share float64, only string) (failed int, err error) {
	if s.program, err = filepath.Abs(program); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, err
	}
	if err := os.Chdir(folder); err != nil {
		return 0, err
	}
	seed := uint64(time.Now().UnixNano())
	s.random, s.ends, s.lengths = rand.New(rand.NewPCG(seed, 0)), time.Now().Add(length), map[string]time.Duration{}
	done, rounds, failed, err := readLog()
	if err != nil {
		return 0, err
	}
	log, err := os.OpenFile(logFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := writeData(); err != nil {
		return failed, err
	}
	total, wanted := 0, 0
	for _, scene := range s.scenarios() {
		if only != "" && !slices.Contains(strings.Split(only, ","), scene.name) {
			continue
		}
		want := int(share * float64(scene.kills))
		wanted += want
		for done[scene.name] < want && time.Now().Before(s.ends) {
			place := filepath.Join(scene.name, strconv.Itoa(rounds[scene.name]))
			rounds[scene.name]++
			if err := os.MkdirAll(place, 0o777); err != nil {
				return failed, err
			}
			kills, wrong := scene.round(place)
			if err := s.note(log, scene.name, kills, wrong); err != nil {
				return failed, err
			}
			done[scene.name] += kills
			if wrong != nil {
				failed++
			} else if err := os.RemoveAll(place); err != nil {
				return failed, err
			}
		}
		total += done[scene.name]
	}
	fmt.Printf("%d of %d kills, %d rounds of them wrong, seed %d of the last start\n", total, wanted, failed, seed)
	return failed, nil
}

const logFile = "torture.log"

// note writes a case into the log, where it outlives the machine.
func (s *session) note(log *os.File, name string, kills int, wrong error) error {
	word := "same"
	if wrong != nil {
		word = "WRONG " + strconv.Quote(wrong.Error())
	}
	line := fmt.Sprintf("%s %s %d %s\n", time.Now().UTC().Format(time.DateTime), name, kills, word)
	fmt.Print(line)
	_, err := log.WriteString(line)
	return errors.Join(err, log.Sync())
}

// readLog returns the kills and the rounds of former starts by scenario.
func readLog() (kills, rounds map[string]int, failed int, err error) {
	kills, rounds = map[string]int{}, map[string]int{}
	log, err := os.Open(logFile)
	if errors.Is(err, os.ErrNotExist) {
		return kills, rounds, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	defer log.Close()
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 5 {
			continue // cut off
		}
		n, _ := strconv.Atoi(words[3])
		kills[words[2]] += n
		rounds[words[2]]++
		if words[4] != "same" {
			failed++
		}
	}
	return kills, rounds, failed, lines.Err()
}

// start starts the program.
func (s *session) start(arguments ...string) (*exec.Cmd, *strings.Builder, error) {
	command, said := exec.Command(s.program, arguments...), &strings.Builder{}
	command.Stdout, command.Stderr = said, said
	return command, said, command.Start()
}

// call lets the program end by itself.
func (s *session) call(arguments ...string) error {
	command, said, err := s.start(arguments...)
	if err != nil {
		return err
	}
	if err := command.Wait(); err != nil {
		return fmt.Errorf("iwrun %s: %w\n%s", strings.Join(arguments, " "), err, said)
	}
	return nil
}

// kill starts the program and kills it at a random moment, with its workers or alone. It reports
// whether the program had not ended before, and well; otherwise what came of it. length is the time
// that it takes if it is left alone.
func (s *session) kill(length time.Duration, arguments ...string) (killed bool, err error) {
	command, said, err := s.start(arguments...)
	if err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, said)
		}
		return false, err
	case <-time.After(time.Duration(s.random.Float64() * float64(length))):
		killOne(command.Process, s.random.IntN(2) == 0)
		<-ended
		return true, nil
	}
}

// killOne sends SIGKILL to a process and, if asked, first to its children, the workers.
func killOne(process *os.Process, workersToo bool) {
	pid := strconv.Itoa(process.Pid)
	if children, err := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children")); err == nil && workersToo {
		for _, child := range strings.Fields(string(children)) {
			if number, err := strconv.Atoi(child); err == nil {
				syscall.Kill(number, syscall.SIGKILL) // it may have ended by itself
			}
		}
	}
	process.Kill()
}
