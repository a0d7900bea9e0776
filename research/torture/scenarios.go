package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/store"
	"iwda/research/runs"
)

// scenarios are all that is killed. Paths are relative to the session's folder.
func (s *session) scenarios() []scenario {
	const ofRuns, ofCommands = 200, 100
	return []scenario{
		{"glyphs", ofRuns, s.runs("-c", "glyphs.yaml")},
		{"mlp", ofRuns, s.runs("-c", "mlp.yaml")},
		{"images", ofRuns, s.runs("-c", "images.yaml")},
		{"adapt", ofCommands, s.adapt},
		{"export", ofCommands, s.export},
		{"predict", ofCommands, s.replaced("p.csv", []string{"predict", "MODEL/seed-1", "rows.csv", "-o", "p.csv"}, []string{"predict", "MODEL/seed-2", "rows.csv", "-o", "p.csv"})},
		{"labelshift", ofCommands, s.replaced("shares.json", []string{"labelshift", "source-p.csv", "target-p.csv", "-o", "shares.json"},
			[]string{"labelshift", "target-p.csv", "source-p.csv", "-o", "shares.json"})},
	}
}

// runs is a scenario in which runs are killed until they have ended, and are the same as ones that
// were left alone.
func (s *session) runs(arguments ...string) func(folder string) (int, error) {
	return func(folder string) (kills int, err error) {
		whole, _, _ := strings.Cut(folder, string(filepath.Separator))
		whole = filepath.Join(whole, "whole")
		length, known := s.lengths[whole]
		if !known {
			if err := os.RemoveAll(whole); err != nil {
				return 0, err
			}
			started := time.Now()
			if _, err := s.kill(time.Hour, append(arguments, "-o", whole)...); err != nil {
				return 0, err
			}
			length = time.Since(started)
			s.lengths[whole] = length
		}
		line := append(arguments, "-o", folder, "--checkpoint-every", "30ms")
		for {
			killed, err := s.kill(length, line...)
			if err != nil {
				return kills, err
			}
			if !killed {
				break
			}
			kills++
		}
		return kills, sameRuns(folder, whole)
	}
}

// sameRuns compares all runs of two folders in what does not depend on the clock.
func sameRuns(folder, whole string) error {
	found, want := runs.Finished(folder, "killed"), runs.Finished(whole, "killed")
	if len(found) != len(want) || len(found) == 0 {
		return fmt.Errorf("%d runs, want %d", len(found), len(want))
	}
	for i, run := range found {
		of := want[i]
		for _, r := range []*store.Result{&run.Result, &of.Result} {
			r.Seconds, r.PeakMemoryBytes = 0, 0
		}
		if diff := cmp.Diff(of.Result, run.Result); diff != "" {
			return fmt.Errorf("%s: %s", run.Dir, diff)
		}
		for _, name := range []string{store.MetricsFile, store.WeightsFile} {
			a, err := withoutSeconds(run.Dir.Path(name))
			if err != nil {
				return err
			}
			b, err := withoutSeconds(of.Dir.Path(name))
			if err != nil {
				return err
			}
			if diff := cmp.Diff(b, a); diff != "" {
				return fmt.Errorf("%s: %s", run.Dir.Path(name), diff)
			}
		}
	}
	return nil
}

func withoutSeconds(path string) ([][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%s: %d lines, %w", path, len(rows), err)
	}
	if column := slices.Index(rows[0], "seconds"); column >= 0 {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], column, column+1)
		}
	}
	return rows, nil
}

// alternately makes something in two ways in turn, killed at a random moment of the first time that
// the second takes alone, and calls look after each kill.
func (s *session) alternately(name string, first, second []string, look func() error) (kills int, err error) {
	if _, known := s.lengths[name]; !known {
		started := time.Now()
		if err := s.call(second...); err != nil {
			return 0, err
		}
		s.lengths[name] = time.Since(started)
	}
	if err := s.call(first...); err != nil {
		return 0, err
	}
	const perRound = 10
	ways := [][]string{second, first}
	for i := 0; kills < perRound; i++ {
		killed, err := s.kill(s.lengths[name], ways[i%2]...)
		if err == nil {
			err = look()
		}
		if err != nil {
			return kills, fmt.Errorf("after %d kills: %w", kills, err)
		}
		if killed {
			kills++
		}
	}
	return kills, errors.Join(s.call(first...), look())
}

// models returns the folder of the runs that predict, which are made once.
func (s *session) models() (string, error) {
	folder := filepath.Join("models", "killed", "full", "source-target", "iwdan")
	if s.lengths["models"] > 0 {
		return folder, nil
	}
	s.lengths["models"] = 1
	return folder, s.call("-c", "mlp.yaml", "--set", "seeds=[1, 2, 3]", "-o", "models")
}

// either returns an error unless a file is one of two.
func either(path string, wants ...string) error {
	got, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, want := range wants {
		if text, err := os.ReadFile(want); err != nil {
			return err
		} else if string(text) == string(got) {
			return nil
		}
	}
	return fmt.Errorf("%s is neither of %q", path, wants)
}

// replaced is a scenario in which a file is replaced by one of two.
func (s *session) replaced(file string, ways ...[]string) func(folder string) (int, error) {
	return func(folder string) (int, error) {
		models, err := s.models()
		if err != nil {
			return 0, err
		}
		path := filepath.Join(folder, file)
		lines, wants := make([][]string, 2), make([]string, 2)
		for i, way := range ways {
			for _, word := range way {
				word = strings.Replace(word, "MODEL", models, 1)
				if word == file {
					word = path
				}
				lines[i] = append(lines[i], word)
			}
			if err := s.call(lines[i]...); err != nil {
				return 0, err
			}
			wants[i] = fmt.Sprintf("%s.%d", path, i)
			if err := os.Rename(path, wants[i]); err != nil {
				return 0, err
			}
		}
		kills, err := s.alternately(file, lines[0], lines[1], func() error { return either(path, wants...) })
		if left, _ := filepath.Glob(filepath.Join(folder, ".*.tmp-*")); len(left) > 0 && err == nil {
			err = fmt.Errorf("left: %q", left)
		}
		return kills, err
	}
}

// export replaces a model folder by several models and by one.
func (s *session) export(folder string) (int, error) {
	models, err := s.models()
	if err != nil {
		return 0, err
	}
	m, p := filepath.Join(folder, "m"), filepath.Join(folder, "p.csv")
	ways := [][]string{{"export", models, "-o", m}, {"export", filepath.Join(models, "seed-2"), "-o", m}}
	var wants []string
	for i, way := range ways {
		want := fmt.Sprintf("%s.%d", p, i)
		if err := errors.Join(s.call(way...), s.call("predict", m, "rows.csv", "-o", want+".csv")); err != nil {
			return 0, err
		}
		wants = append(wants, want+".csv")
	}
	kills, err := s.alternately("export", ways[0], ways[1], func() error {
		return errors.Join(s.call("predict", m, "rows.csv", "-o", p), either(p, wants...))
	})
	return kills, err
}

// adapt concludes in one folder with the runs of one method and with those of another.
func (s *session) adapt(folder string) (int, error) {
	way := func(to, methods string) []string {
		return []string{"adapt", "--source", "source.csv", "--target", "rows.csv", "-o", to, "--steps", "60", "--set", "seeds=[1]", "--set", "methods=[" + methods + "]"}
	}
	out, p := filepath.Join(folder, "out"), filepath.Join(folder, "p.csv")
	var predictions, models []string
	for _, methods := range []string{"source-only", "iwdan"} {
		to := filepath.Join(folder, methods)
		model := filepath.Join(folder, methods+".csv")
		if err := errors.Join(s.call(way(to, methods)...), s.call("predict", to, "rows.csv", "-o", model), s.call(way(out, methods)...)); err != nil {
			return 0, err
		}
		predictions, models = append(predictions, filepath.Join(to, "predictions.csv")), append(models, model)
	}
	kills, err := s.alternately("adapt", way(out, "source-only"), way(out, "iwdan"), func() error {
		return errors.Join(either(filepath.Join(out, "predictions.csv"), predictions...), s.call("predict", out, "rows.csv", "-o", p), either(p, models...))
	})
	return kills, err
}
