package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"iwda/inference/monitor"
	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
)

var classes = []string{"well", "sick"}

// rowsOf draws probabilities of two classes, of which a share is sick.
func rowsOf(seed uint64, n int, share float64) (probabilities []float64, labels []int) {
	random := rand.New(rand.NewPCG(seed, 1))
	for range n {
		label, p := 0, 0.5*random.Float64()
		if random.Float64() < share {
			label, p = 1, 0.45+0.55*random.Float64()
		}
		probabilities, labels = append(probabilities, 1-p, p), append(labels, label)
	}
	return probabilities, labels
}

func newReference(t *testing.T) *Reference {
	t.Helper()
	probabilities, labels := rowsOf(100, 2000, 0.3)
	return must.Have(NewReference("held-out.csv", classes, probabilities, labels, nil))(t)
}

// night is a batch of 300 rows.
func night(i int, share float64) Source {
	probabilities, _ := rowsOf(uint64(i), 300, share)
	return Source{Name: fmt.Sprintf("night %d", i), Time: time.Unix(int64(1e9+86400*i), 0), Rows: func(take func(time, group string, probabilities []float64) error) error {
		for j := 0; j < len(probabilities); j += 2 {
			if err := take(fmt.Sprintf("2026-11-%02d %02d:00:00", i, j%24), fmt.Sprint(j/2%100), probabilities[j:j+2]); err != nil {
				return err
			}
		}
		return nil
	}}
}

var alarms = []string{"share(sick) > 0.4", "accuracy < 0.5", "shares changed after 3"}

// call does what a call of the command does with some batches, until the disk fails.
func call(t *testing.T, disk *wholefile.Disk, path string, r *Reference, batches ...Source) error {
	t.Helper()
	s := must.Have(Open(path, r, alarms, 0))(t)
	for _, b := range batches {
		already := must.Have(s.Add(b))(t)
		if already == nil {
			if err := s.Write(disk, path); err != nil {
				return err
			}
		}
	}
	return nil
}

func nights(n int) (all []Source) {
	for i := 1; i <= n; i++ {
		share := 0.3
		if i > 8 {
			share = 0.7
		}
		all = append(all, night(i, share))
	}
	return all
}

// Whatever call to the disk fails, the same calls again end in the same bits, and so do calls of one batch each
// and calls that name batches twice.
func TestKilledCallsEndInTheSameBits(t *testing.T) {
	r, batches := newReference(t), nights(4)
	want := filepath.Join(t.TempDir(), "state")
	must.Do(t, call(t, nil, want, r, batches...))
	bits := testfiles.Read(t, want)
	check := func(how, path string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, bits) {
			t.Errorf("%s: other bits, %v", how, err)
		}
	}
	one := filepath.Join(t.TempDir(), "state")
	for i, b := range batches {
		must.Do(t, call(t, nil, one, r, slices.Concat(batches[:i], []Source{b, b})...))
	}
	check("one by one, and twice", one)
	faults := 0
	for reached := true; reached; faults++ { // the call of this number fails, and all after it
		calls := 0
		disk := &wholefile.Disk{Before: func(*wholefile.Call) error {
			if calls++; calls > faults {
				return syscall.EIO
			}
			return nil
		}}
		path := filepath.Join(t.TempDir(), "state")
		_ = call(t, disk, path, r, batches...)
		must.Do(t, call(t, nil, path, r, batches...))
		check(fmt.Sprintf("from call %d on", faults), path)
		reached = calls > faults
	}
	if faults < 20 {
		t.Errorf("%d calls to the disk", faults)
	}
}

// Two watchers of one state wait for each other, and no batch is lost.
func TestTwoWatchersWait(t *testing.T) {
	r, path := newReference(t), filepath.Join(t.TempDir(), "state")
	done := make(chan error, 6)
	for i := 1; i <= 6; i++ {
		go func() {
			release, err := Lock(context.Background(), nil, path)
			if err == nil {
				err = call(t, nil, path, r, night(i, 0.3))
				err = errors.Join(err, release())
			}
			done <- err
		}()
	}
	for range 6 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	s, err := ReadState(path)
	if err != nil || len(s.Batches) != 6 {
		t.Fatalf("%d batches, %v", len(s.Batches), err)
	}
	release := must.Have(Lock(context.Background(), nil, path))(t)
	defer release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Lock(ctx, nil, path); !errors.Is(err, context.Canceled) {
		t.Errorf("a lock that is held: %v", err)
	}
}

// States of parts merge to that of all batches; a batch of both counts once.
func TestMerge(t *testing.T) {
	r, batches := newReference(t), nights(6)
	state := func(batches ...Source) *State {
		s := must.Have(Begin(r, alarms, 0.05))(t)
		for _, b := range batches {
			must.Have(s.Add(b))(t)
		}
		return s
	}
	a, b, want := state(batches[:4]...), state(batches[2:]...), state(batches...)
	if added, err := a.Merge("b", b); err != nil || added != 2 {
		t.Fatalf("%d added, %v", added, err)
	}
	got, _ := json.Marshal(a)
	whole, _ := json.Marshal(want)
	if !bytes.Equal(got, whole) {
		t.Errorf("merged\n%s\nwhole\n%s", got, whole)
	}
	changed := batches[0]
	changed.Rows = batches[5].Rows
	changed.Name = "night 1"
	must.Refuse(state(batches[0]).Add(changed))(t, `"night 1" was counted with other rows`)
	changed.Name = "night 7"
	if already, err := want.Add(changed); err != nil || already == nil || already.Name != "night 6" {
		t.Errorf("a batch under another name: %v, %v", already, err)
	}
	probabilities, labels := rowsOf(101, 2000, 0.3)
	other := must.Have(NewReference("other.csv", classes, probabilities, labels, nil))(t)
	foreign := must.Have(Begin(other, nil, 0.05))(t)
	must.Refuse(a.Merge("c", foreign))(t, "other.csv")
	if s, err := Compare("a", "b", want, b, 0.95); err != nil || len(s.Notes) != 1 {
		t.Errorf("compared: %+v, %v", s.Notes, err)
	}
}

// A state is read whole, or not at all; other alarms, another level and another reference are refused.
func TestDamagedAndOtherStates(t *testing.T) {
	r, path := newReference(t), filepath.Join(t.TempDir(), "state")
	must.Do(t, call(t, nil, path, r, nights(2)...))
	whole := testfiles.Read(t, path)
	if !IsState(path) {
		t.Error("a state is not known as one")
	}
	for at := 0; at < len(whole); at += 7 {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 4
		if _, err := parseState(damaged); err == nil {
			t.Fatalf("byte %d changed, and nothing is said", at)
		}
		if _, err := parseState(whole[:at]); err == nil {
			t.Fatalf("%d of %d bytes are a state", at, len(whole))
		}
	}
	for want, agrees := range map[string]func(s *State) error{
		"alarms": func(s *State) error { return s.Agrees("p", r, []string{"accuracy < 0.7"}, 0) },
		"level":  func(s *State) error { return s.Agrees("p", r, nil, 0.01) },
		"":       func(s *State) error { return s.Agrees("p", r, append(alarms, "more changed"), 0.05) },
		"held-out rows": func(s *State) error {
			other := *r
			other.SHA256 = "x"
			return s.Agrees("p", &other, nil, 0)
		},
	} {
		s := must.Have(ReadState(path))(t)
		if err := agrees(s); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// One row of a group counts, whatever the groups' sizes, always the same one; a batch's time is the latest of its rows.
func TestGroupsAndTimes(t *testing.T) {
	probabilities, labels := rowsOf(100, 2000, 0.3)
	groups := make([]int, len(labels))
	for i := range groups {
		groups[i] = i / 4
	}
	r := must.Have(NewReference("held-out.csv", classes, probabilities, labels, groups))(t)
	counted := 0.0
	for _, row := range r.Counts {
		for _, n := range row {
			counted += n
		}
	}
	if counted != 480 { // 20 of 500 groups say where bins are
		t.Errorf("%v rows of 500 groups count", counted)
	}
	from := night(3, 0.3)
	from.TimeColumn = "when"
	b, err := r.count(from)
	if err != nil || b.Rows != 100 || b.Time.Format(time.DateTime) != "2026-11-03 22:00:00" {
		t.Errorf("%d rows at %v, %v", b.Rows, b.Time, err)
	}
	if again, err := r.count(from); err != nil || !slices.Equal(again.Bins, b.Bins) {
		t.Errorf("other rows: %v and %v, %v", b.Bins, again.Bins, err)
	}
	from.TimeColumn = "id"
	from.Rows = func(take func(time, group string, probabilities []float64) error) error {
		return take("7", "", []float64{1, 0})
	}
	must.Refuse(r.count(from))(t, `column "id"`)
}

func TestParseAlarm(t *testing.T) {
	for said, want := range map[string]monitor.Alarm{
		"share(sick) > 0.05":     {Kind: monitor.ShareAbove, Class: 1, Bound: 0.05},
		" share( well )<0.5":     {Kind: monitor.ShareBelow, Bound: 0.5},
		"accuracy < 0.85":        {Kind: monitor.AccuracyBelow, Bound: 0.85},
		"shares changed":         {Kind: monitor.SharesChanged},
		"shares changed after 7": {Kind: monitor.SharesChanged, First: 7},
		"more  changed":          {Kind: monitor.MoreChanged},
	} {
		got, err := ParseAlarm(said, classes)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", said, got, err)
		}
		if again, err := ParseAlarm(text(got, classes), classes); err != nil || again != got {
			t.Errorf("%q is said as %q, %v", said, text(got, classes), err)
		}
	}
	for said, want := range map[string]string{
		"share(sik) > 0.05": `did you mean "sick"`, "share(x) > 0.1": "well or sick", "accuracy > 0.9": "accuracy < 0.85",
		"share(sick) > 5": "between 0 and 1", "accuracy < low": "between 0 and 1", "shares changed after 0": "from 1 on", "shares": "more changed",
	} {
		if _, err := ParseAlarm(said, classes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", said, err, want)
		}
	}
}

// What is shown of all batches so far forgets as asked; the log has a line a batch, however calls ended.
func TestFindings(t *testing.T) {
	r := newReference(t)
	s := must.Have(Begin(r, alarms, 0.05))(t)
	for _, b := range nights(14) {
		must.Have(s.Add(b))(t)
	}
	of := func(window int) []Finding {
		findings, err := s.Findings(window, 0)
		if err != nil || len(findings) != 14 {
			t.Fatalf("%d findings, %v", len(findings), err)
		}
		return findings
	}
	all, window := of(0), of(3)
	last := func(f []Finding) float64 { return f[13].SoFar.Shares["sick"].Value }
	if !(last(all) < 0.55 && last(window) > 0.65) {
		t.Errorf("sick is %v of all, %v of the last three; 0.3 became 0.7", last(all), last(window))
	}
	first := s.Sounded()[0]
	if line := s.Line(all[13]); first < 8 || !strings.Contains(line, fmt.Sprintf("ALARM share(sick) > 0.4 (since night %d)", first+1)) {
		t.Errorf("sounded with batch %d: %s", first, line)
	}
	log := filepath.Join(t.TempDir(), "log")
	for _, already := range []string{"", "half a line"} {
		testfiles.Write(t, log, already)
		for _, n := range []int{3, 3, 14} {
			must.Do(t, WriteLog(log, all[:n]))
			text, err := os.ReadFile(log)
			if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || len(lines) != n || !json.Valid([]byte(lines[n-1])) {
				t.Errorf("%d lines of %d, %v", len(lines), n, err)
			}
		}
	}
	metrics, page := filepath.Join(t.TempDir(), "m.prom"), filepath.Join(t.TempDir(), "p.html")
	must.Do(t, errors.Join(s.WriteMetrics(metrics, all[13]), s.WritePage(page, all, 0)))
	for path, parts := range map[string][]string{
		metrics: {`iwda_watch_alarm{alarm="share(sick) > 0.4"} 1` + "\n", `iwda_watch_batches 14`, `iwda_watch_last_batch_timestamp_seconds 1.0012096e+09`, "# TYPE iwda_watch_pooled_share_low gauge\n"},
		page:    {"An alarm has sounded", "<h3>sick</h3>", "<h3>accuracy</h3>", "14 batches", `<polyline class="before"`},
	} {
		text, err := os.ReadFile(path)
		for _, part := range parts {
			if err != nil || !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %q, %v", path, part, err)
			}
		}
		body, _, _ := strings.Cut(string(text), "<script>")
		if strings.Contains(string(text), "http://") || strings.Contains(body, "NaN") {
			t.Errorf("%s loads something, or has no number", path)
		}
	}
}

// The state of a year of ten classes is small.
func TestAYearIsSmall(t *testing.T) {
	r := newReference(t)
	s := must.Have(Begin(r, alarms, 0.05))(t)
	b := Batch{Name: "night-2026-11-27.csv", SHA256: strings.Repeat("a", 32), Rows: 500, Bins: slices.Repeat([]int{16}, 30), Evidence: []float64{-1.2345678901234567, -1.2345678901234567, -1.2345678901234567, -1.2345678901234567}}
	s.Batches = slices.Repeat([]Batch{b}, 365)
	if text, err := json.Marshal(s); err != nil || len(text) > 1<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
