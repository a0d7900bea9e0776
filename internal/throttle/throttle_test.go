package throttle

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestDueOnceInAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := Every(time.Second)
		expect := func(when string, want bool) {
			t.Helper()
			if got := throttle.Due(); got != want {
				t.Errorf("%s: due %v, want %v", when, got, want)
			}
		}
		expect("at first", true)
		expect("at once", false)
		time.Sleep(time.Second - 1)
		expect("before the pause is over", false)
		time.Sleep(time.Nanosecond)
		expect("after the pause", true)
		time.Sleep(10 * time.Second)
		expect("after many pauses", true)
		expect("at once after many pauses", false)
		time.Sleep(time.Second - 1)
		throttle.Restart()
		time.Sleep(time.Second - 1)
		expect("less than a pause after Restart", false)
		time.Sleep(time.Nanosecond)
		expect("a pause after Restart", true)
	})
}
