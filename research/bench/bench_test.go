package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnother counts the rounds that works of different lengths get.
func TestAnother(t *testing.T) {
	p := pace{rounds: 5, time: 30 * time.Second}
	for round, want := range map[time.Duration]int{
		time.Second:      5, // all that there are
		7 * time.Second:  4,
		10 * time.Second: 3,
		14 * time.Second: 2,
		29 * time.Second: 2, // never one alone where it leaves time
		30 * time.Second: 1,
		time.Hour:        1,
	} {
		done := 0
		for p.another(done, time.Duration(done)*round) {
			done++
		}
		if done != want {
			t.Errorf("rounds of %v: %d, want %d", round, done, want)
		}
	}
}

// TestMissed: a value at its lower limit meets the goal, one at its upper limit misses it.
func TestMissed(t *testing.T) {
	faster := result{Work: "faster", Value: 1.6, Goal: 1.6, Unit: ratioUnit, Spread: []float64{1, 2}}
	small := result{Work: "small", Value: 449, Goal: 450, Unit: "MB", Below: true, Spread: []float64{1, 2}}
	if err := missed([]result{faster, small}); err != nil {
		t.Errorf("all goals are met: %v", err)
	}
	if err := missed(nil); err != nil {
		t.Errorf("nothing was measured: %v", err)
	}
	slower, large := faster, small
	slower.Work, slower.Value = "slower", 1.59
	large.Work, large.Value = "large", 450
	err := missed([]result{faster, slower, small, large})
	if want := "2 of 4 goals missed: slower: 1.59 not ≥ 1.6; large: 450.00 not < 450 MB"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	var table strings.Builder
	large.Rounds = 3
	if err := printTable(&table, []result{large}); err != nil || !strings.Contains(table.String(), "450.00 not < 450 MB  1.00–2.00 in 3\n") {
		t.Errorf("error %v\n%s", err, &table)
	}
}

// TestFailures: a work that fails has a row that says so, the others go on, and what is known is on the
// disk after each.
func TestFailures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out", "numbers.json")
	read := func() (results []result) {
		content, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(content, &results)
		}
		if err != nil {
			t.Fatal(err)
		}
		return results
	}
	good := func(*bench, []string) (numbers, error) { return numbers{"ms": 1, "value": 5}, nil }
	works := []work{
		{"first", goal{1, "s", false}, good, nil},
		{"broken", goal{1, "s", false}, func(*bench, []string) (numbers, error) { return nil, errors.New("it panicked\nat a line") }, nil},
		{"without data", goal{1, "s", false}, func(*bench, []string) (numbers, error) { return nil, errNoDigits }, nil},
		{"last", goal{1, "s", false}, func(*bench, []string) (numbers, error) {
			if so := read(); len(so) != 2 || so[1].Failure != "it panicked\nat a line" {
				t.Errorf("before the last work, the file has %+v", so)
			}
			return numbers{"value": 5}, nil
		}, nil},
	}
	results, err := new(bench).measureAll(works, pace{rounds: 1}, path)
	if err != nil || len(results) != 3 || len(read()) != 3 {
		t.Fatalf("%+v, %v", results, err)
	}
	if err := missed(results); err == nil || !strings.Contains(err.Error(), "1 of 3 goals missed: broken: failed: it panicked") {
		t.Errorf("error %v", err)
	}
	var table strings.Builder
	if err := printTable(&table, results); err != nil || !strings.Contains(table.String(), "failed: it panicked\nlast") {
		t.Errorf("%v\n%s", err, &table)
	}
}

// TestMeasure: the median of the rounds, and as many as the pace allows.
func TestMeasure(t *testing.T) {
	calls := 0
	side := func(milliseconds ...float64) side {
		return func(*bench, []string) (numbers, error) {
			calls++
			return numbers{"ms": milliseconds[(calls-1)/2%len(milliseconds)], "sum": 7}, nil
		}
	}
	w := work{"w", times(2), side(1, 1, 1), side(3, 1, 2)}
	r, err := new(bench).measure(w, pace{rounds: 3, time: time.Hour})
	if err != nil || r.Rounds != 3 || r.Value != 2 || r.Ratio != 2 || r.Spread[0] != 1 || r.Spread[1] != 3 || !r.met() {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := new(bench).measure(w, pace{rounds: 3}); err != nil || r.Rounds != 1 {
		t.Errorf("without time: %d rounds, %v", r.Rounds, err)
	}
}
