// Package watch watches a classifier's predictions night after night: it counts batches of rows into a
// state, a small file, and says what is known of class shares and accuracy by now, and which alarms
// sound. Package monitor has the numbers.
package watch

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"iwda/inference/monitor"
	"iwda/internal/nearest"
	"iwda/internal/printable"
)

var (
	boundText = regexp.MustCompile(`^(share\s*\((.*)\)|accuracy)\s*([<>])\s*(\S+)$`)
	firstText = regexp.MustCompile(`^shares\s+changed(?:\s+after\s+(\d+))?$`)
	moreText  = regexp.MustCompile(`^more\s+changed$`)
)

// ParseAlarm reads an alarm as users state it: share(CLASS) > 0.05, share(CLASS) < 0.05, accuracy < 0.85,
// shares changed, shares changed after 14, more changed.
func ParseAlarm(text string, classes []string) (monitor.Alarm, error) {
	text = strings.TrimSpace(text)
	if moreText.MatchString(text) {
		return monitor.Alarm{Kind: monitor.MoreChanged}, nil
	}
	if parts := firstText.FindStringSubmatch(text); parts != nil {
		first := 0
		if parts[1] != "" {
			var err error
			if first, err = strconv.Atoi(parts[1]); err != nil || first == 0 {
				return monitor.Alarm{}, fmt.Errorf("alarm %q: after how many batches? want a number from 1 on", text)
			}
		}
		return monitor.Alarm{Kind: monitor.SharesChanged, First: first}, nil
	}
	parts := boundText.FindStringSubmatch(text)
	if parts == nil {
		return monitor.Alarm{}, fmt.Errorf("alarm %q: want share(CLASS) > 0.05, share(CLASS) < 0.05, accuracy < 0.85, shares changed, shares changed after 14 or more changed", text)
	}
	a := monitor.Alarm{Kind: monitor.AccuracyBelow}
	if parts[1] != "accuracy" {
		if a.Class = slices.Index(classes, strings.TrimSpace(parts[2])); a.Class < 0 {
			why := "; there are " + printable.Or(classes[:min(len(classes), 10)])
			if near := nearest.Name(parts[2], classes); near != "" {
				why = fmt.Sprintf("; did you mean %q?", near)
			}
			return a, fmt.Errorf("alarm %q: %q is no class%s", text, parts[2], why)
		}
		a.Kind = map[string]monitor.Kind{">": monitor.ShareAbove, "<": monitor.ShareBelow}[parts[3]]
	} else if parts[3] == ">" {
		return a, fmt.Errorf("alarm %q: an accuracy that is high is no alarm; want accuracy < 0.85", text)
	}
	var err error
	if a.Bound, err = strconv.ParseFloat(parts[4], 64); err != nil || !(a.Bound > 0 && a.Bound < 1) {
		return a, fmt.Errorf("alarm %q: the bound is %s; want a number between 0 and 1, as in 0.05", text, parts[4])
	}
	return a, nil
}

// text is an alarm as ParseAlarm reads it.
func text(a monitor.Alarm, classes []string) string {
	switch a.Kind {
	case monitor.ShareAbove:
		return fmt.Sprintf("share(%s) > %v", classes[a.Class], a.Bound)
	case monitor.ShareBelow:
		return fmt.Sprintf("share(%s) < %v", classes[a.Class], a.Bound)
	case monitor.AccuracyBelow:
		return fmt.Sprintf("accuracy < %v", a.Bound)
	case monitor.SharesChanged:
		if a.First > 0 {
			return fmt.Sprintf("shares changed after %d", a.First)
		}
	}
	return string(a.Kind)
}
