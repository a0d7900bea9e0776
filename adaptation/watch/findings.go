package watch

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"iwda/inference/monitor"
	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/internal/printable"
	"iwda/internal/wholefile"
	"iwda/weightest/shifttest"
)

// Finding is what is known after a batch, as the log has it.
type Finding struct {
	Batch  string    `json:"batch"`
	Time   time.Time `json:"time"`
	Rows   int       `json:"rows"`
	Known            // of the batch alone
	SoFar  Known     `json:"so_far"` // of all batches so far, or of the last ones
	Alarms []Sound   `json:"alarms"`
}

// Known is what rows tell. Accuracy is nil once more than shares changed.
type Known struct {
	Shares   map[string]monitor.Interval `json:"shares"`
	Accuracy *monitor.Interval           `json:"accuracy"`
	// P is about the p-value of the hypothesis that only class shares changed; of many looks some are small by chance.
	P float64 `json:"more_changed_p"`
}

// Sound is how an alarm stands. Evidence is the decimal logarithm of how many times as well the rows are predicted by
// something that the alarm is for as by anything that it is not for.
type Sound struct {
	Alarm     string  `json:"alarm"`
	Evidence  float64 `json:"evidence_log10"`
	Threshold float64 `json:"threshold_log10"`
	Sounds    bool    `json:"sounds"` // now or after an earlier batch
	Since     string  `json:"since,omitempty"`
}

// Sounds reports whether an alarm does.
func (f Finding) Sounds() bool {
	return slices.ContainsFunc(f.Alarms, func(a Sound) bool { return a.Sounds })
}

// Findings returns what was known after each batch from first on, so far by that many last batches; 0 for all.
func (s *State) Findings(window, first int) (all []Finding, err error) {
	sounded := s.Sounded()
	sums := make([]float64, len(s.Reference.Classes)*shifttest.PerClass)
	for i, b := range s.Batches {
		for bin, n := range b.Bins {
			sums[bin] += float64(n)
			if window > 0 && i >= window {
				sums[bin] -= float64(s.Batches[i-window].Bins[bin])
			}
		}
		if i < first {
			continue
		}
		finding := Finding{Batch: b.Name, Time: b.Time, Rows: b.Rows}
		more := false
		for j, since := range sounded {
			sound := Sound{Alarm: s.Alarms[j], Evidence: b.Evidence[j] / math.Ln10, Threshold: s.monitor.Threshold() / math.Ln10, Sounds: since >= 0 && since <= i}
			if sound.Sounds {
				sound.Since = s.Batches[since].Name
				more = more || s.alarms[j].Kind == monitor.MoreChanged
			}
			finding.Alarms = append(finding.Alarms, sound)
		}
		if finding.Known, err = s.known(convert.Slice[float64](b.Bins), more); err == nil {
			finding.SoFar, err = s.known(sums, more)
		}
		if err != nil {
			return nil, fmt.Errorf("batch %q: %w", b.Name, err)
		}
		all = append(all, finding)
	}
	return all, nil
}

// known is what rows of these bins tell.
func (s *State) known(bins []float64, more bool) (k Known, err error) {
	e, err := s.Reference.Counts.Of(bins)
	if err != nil {
		return k, err
	}
	k.Shares = map[string]monitor.Interval{}
	for class, share := range e.Shares(1 - s.Level) {
		k.Shares[s.Reference.Classes[class]] = share
	}
	if !more {
		accuracy := e.Accuracy(1 - s.Level)
		k.Accuracy = &accuracy
	}
	_, k.P = e.Unexplained(bins)
	return k, nil
}

// percent is an interval in words.
func percent(i monitor.Interval) string {
	return fmt.Sprintf("%.1f%% (%.1f–%.1f)", 100*i.Value, 100*i.Low, 100*i.High)
}

// printedClasses is the number of classes up to which a line says the shares of all.
const printedClasses = 4

// Line is a finding as a line for people.
func (s *State) Line(f Finding) string {
	parts := []string{fmt.Sprintf("%s: %s", f.Batch, printable.Count(f.Rows, "row"))}
	for class, name := range s.Reference.Classes {
		watched := len(s.Reference.Classes) <= printedClasses
		for _, a := range s.alarms {
			watched = watched || a.Class == class && (a.Kind == monitor.ShareAbove || a.Kind == monitor.ShareBelow)
		}
		if watched {
			parts = append(parts, name+" "+percent(f.Shares[name]))
		}
	}
	if f.Accuracy != nil {
		parts = append(parts, "accuracy "+percent(*f.Accuracy))
	}
	var sounds []string
	for _, a := range f.Alarms {
		if a.Sounds {
			sounds = append(sounds, fmt.Sprintf("ALARM %s (since %s)", a.Alarm, a.Since))
		}
	}
	return printable.Line(strings.Join(append(parts, sounds...), "; "))
}

// WriteLog makes the file the findings as lines of JSON. If it holds the first of them, the others are appended;
// otherwise all are written in one step, so that whatever ended an earlier call, each batch has one line.
func WriteLog(path string, findings []Finding) error {
	var want bytes.Buffer
	for _, f := range findings {
		if err := wholefile.JSON(&want, f, ""); err != nil {
			return err
		}
	}
	have, err := input.Read(path, mostBytes)
	if err != nil || !bytes.HasPrefix(want.Bytes(), have) {
		return wholefile.WriteText(path, want.String())
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(want.Bytes()[len(have):]); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return file.Sync()
}

// WriteMetrics writes how all stands after the last batch in Prometheus's text format, in one step.
func (s *State) WriteMetrics(path string, f Finding) error {
	return wholefile.Write(path, func(w io.Writer) error { return s.metrics(w, f) })
}

func (s *State) metrics(w io.Writer, f Finding) error {
	var b strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	label := func(name, value string) string { return fmt.Sprintf(`{%s="%s"}`, name, quote.Replace(value)) }
	begin := func(name, help string) {
		fmt.Fprintf(&b, "# HELP iwda_watch_%s %s\n# TYPE iwda_watch_%[1]s gauge\n", name, help)
	}
	add := func(name, labels string, value float64) { fmt.Fprintf(&b, "iwda_watch_%s%s %v\n", name, labels, value) }
	for _, of := range []struct {
		name, what string
		known      Known
	}{{"batch", "the last batch", f.Known}, {"pooled", "all batches so far", f.SoFar}} {
		for _, end := range []struct {
			name, what string
			of         func(monitor.Interval) float64
		}{
			{"", "Estimated", func(i monitor.Interval) float64 { return i.Value }},
			{"_low", "Lower end of the interval of", func(i monitor.Interval) float64 { return i.Low }},
			{"_high", "Upper end of the interval of", func(i monitor.Interval) float64 { return i.High }},
		} {
			begin(of.name+"_share"+end.name, end.what+" class shares in "+of.what+".")
			for _, class := range s.Reference.Classes {
				add(of.name+"_share"+end.name, label("class", class), end.of(of.known.Shares[class]))
			}
			if of.known.Accuracy != nil {
				begin(of.name+"_accuracy"+end.name, end.what+" accuracy in "+of.what+", if only class shares change.")
				add(of.name+"_accuracy"+end.name, "", end.of(*of.known.Accuracy))
			}
		}
	}
	begin("evidence_log10", "Decimal logarithm of the evidence for an alarm.")
	for _, a := range f.Alarms {
		add("evidence_log10", label("alarm", a.Alarm), a.Evidence)
	}
	begin("alarm", "1 once an alarm has sounded.")
	for _, a := range f.Alarms {
		sounds := 0.0
		if a.Sounds {
			sounds = 1
		}
		add("alarm", label("alarm", a.Alarm), sounds)
	}
	rows := 0
	for _, b := range s.Batches {
		rows += b.Rows
	}
	for _, of := range []struct {
		name, help string
		value      float64
	}{
		{"threshold_log10", "Evidence from which on an alarm sounds.", s.monitor.Threshold() / math.Ln10},
		{"batches", "Number of batches that were counted.", float64(len(s.Batches))},
		{"rows", "Number of rows that were counted.", float64(rows)},
		{"last_batch_timestamp_seconds", "Time of the last batch.", float64(f.Time.Unix())},
	} {
		begin(of.name, of.help)
		add(of.name, "", of.value)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
