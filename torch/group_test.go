package torch

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"iwda/internal/launcher"
	"iwda/internal/ranks"
)

// memberVariable names what a process does that a test started as one of a group.
const memberVariable = "IWDA_TEST_GROUP_MEMBER"

// members are what such a process does with its group; an error is its exit status 1.
var members = map[string]func(*ProcessGroup) error{
	"operations":   groupOperations,
	"wait forever": waitForever,
	"stay behind":  stayBehind,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(memberVariable); name != "" {
		os.Exit(member(members[name]))
	}
	os.Exit(m.Run())
}

// groupTimeout is short for tests in which a process stays behind on purpose.
func groupTimeout() time.Duration {
	timeout, err := time.ParseDuration(cmp.Or(os.Getenv("IWDA_TEST_GROUP_TIMEOUT"), "2m"))
	if err != nil {
		panic(err)
	}
	return timeout
}

func member(act func(*ProcessGroup) error) int {
	found, local, err := launcher.FromEnvironment(os.LookupEnv)
	if err != nil || found.Host == "" || local != found.Rank {
		fmt.Println("no group:", found, local, err)
		return 2
	}
	g, err := NewProcessGroup(GroupOptions{Group: found, Meeting: 5 * time.Minute, Timeout: groupTimeout()})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	defer g.Close()
	if torchErr := Try(func() { err = act(g) }); torchErr != nil {
		err = torchErr
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// expect compares values up to rounding.
func expect(what string, got Tensor, want ...float64) error {
	values := ToSlice[float64](got.To(Float64, CPU))
	for i := range want {
		if len(values) != len(want) || math.Abs(values[i]-want[i]) > 1e-12 {
			return fmt.Errorf("%s: got %v, want %v", what, values, want)
		}
	}
	return nil
}

func groupOperations(g *ProcessGroup) (err error) {
	Tidy(func() {
		r := float64(g.Rank())
		a, b, c := FromSlice([]float64{r, 2}, 2), FromSlice([]float32{float32(10 * r), 1, -1, 0}, 2, 2), FromSlice([]int64{int64(r)}, 1)
		transposed := b.Transpose(0, 1).Clone().Transpose(0, 1) // not contiguous
		large := Full(r+1, Float32, CPU, 7<<20)                 // 28 MiB, more than a bucket
		g.Sum(a, b, large, transposed, c)
		err = cmp.Or(expect("sum", a, 1, 4), expect("sum", b, 10, 2, -2, 0), expect("sum", transposed, 10, 2, -2, 0),
			expect("sum of integers", c, 1), expect("large sum", large.Narrow(0, 7<<20-1, 1), 3))
		mean := FromSlice([]float64{r, 4 * r}, 2)
		g.Mean(mean)
		from1 := FromSlice([]float64{r, -r}, 1, 2)
		g.Broadcast(1, from1)
		rows := FromSlice([]float64{r, 5, r, 6}, 2, 2).Transpose(0, 1)
		err = cmp.Or(err, expect("mean", mean, 0.5, 2), expect("broadcast", from1, 1, -1),
			expect("gather", g.Gather(rows), 0, 0, 5, 6, 1, 1, 5, 6))
		if shape := g.Gather(rows).Shape(); err == nil && !slices.Equal(shape, []int{4, 2}) {
			err = fmt.Errorf("gather: shape %v", shape)
		}
		g.Wait()
		for what, f := range map[string]func(){
			"a process that is not there": func() { g.Broadcast(2, a) },
			"a released tensor":           func() { g.Sum(a, Tensor{}) },
		} {
			if err == nil && Try(f) == nil {
				err = fmt.Errorf("%s: not refused", what)
			}
		}
	})
	return err
}

// waitForever says that the group is there, and the process of rank 1 then waits to be
// killed.
func waitForever(g *ProcessGroup) error {
	g.Wait()
	fmt.Println("met")
	if g.Rank() == 1 {
		time.Sleep(time.Hour)
	}
	g.Wait()
	return nil
}

func stayBehind(g *ProcessGroup) error {
	if g.Rank() == 1 {
		time.Sleep(10 * groupTimeout())
	}
	g.Wait()
	return nil
}

func TestProcessGroup(t *testing.T) {
	for rank, p := range ranks.Start(t, 2, memberVariable+"=operations") {
		if status, said := p.Wait(); status != 0 {
			t.Errorf("process %d: status %d\n%s", rank, status, said)
		}
	}
}

// What one process of a group cannot do, because another is gone or stays behind, is an
// error there, and soon.
func TestProcessGroupLosesOne(t *testing.T) {
	t.Run("killed", func(t *testing.T) {
		processes := ranks.Start(t, 2, memberVariable+"=wait forever")
		processes[1].WaitToSay("met")
		processes[1].Kill()
		if status, said := processes[0].Wait(); status != 1 || !strings.Contains(said, "torch: ProcessGroup.Sum: ") {
			t.Errorf("status %d\n%s", status, said)
		}
	})
	t.Run("behind", func(t *testing.T) {
		processes := ranks.Start(t, 2, memberVariable+"=stay behind", "IWDA_TEST_GROUP_TIMEOUT=3s")
		if status, said := processes[0].Wait(); status != 1 || !strings.Contains(said, "torch: ProcessGroup.Sum: ") {
			t.Errorf("status %d\n%s", status, said)
		}
	})
}

// A process that nobody meets does not wait as long as operations may take, such as a checkpoint on a slow disk.
func TestMeetingHasItsOwnTimeout(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	_, err = NewProcessGroup(GroupOptions{Group: launcher.Group{Rank: 0, Size: 2, Host: "127.0.0.1", Port: port}, Meeting: time.Second, Timeout: 24 * time.Hour})
	if err == nil || !strings.Contains(err.Error(), "process 0 of 2 cannot meet the others") {
		t.Error(err)
	}
}

func TestProcessGroupThatNeverMeets(t *testing.T) {
	_, err := NewProcessGroup(GroupOptions{Group: launcher.Group{Rank: 1, Size: 2, Host: "127.0.0.1", Port: 1}, Timeout: time.Second})
	if err == nil || !strings.Contains(err.Error(), "process 1 of 2 cannot meet the others at 127.0.0.1, port 1: ") {
		t.Error(err)
	}
}
