package status

import (
	"testing"
	"time"
)

func TestAgeText(t *testing.T) {
	now := time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]string{
		-time.Second: "0 s ago", 59 * time.Second: "59 s ago", time.Minute: "1 min ago", 59 * time.Minute: "59 min ago",
		61 * time.Minute: "1 h 1 min ago", 47 * time.Hour: "47 h 0 min ago", 73 * time.Hour: "3 days ago",
	} {
		when := now.Add(-age)
		if got := ageText(&when, now); got != want {
			t.Errorf("%v: %q, want %q", age, got, want)
		}
	}
	if got := ageText(nil, now); got != "-" {
		t.Errorf("never: %q", got)
	}
}
