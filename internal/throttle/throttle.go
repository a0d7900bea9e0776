// Package throttle keeps what may be said at any moment from being said too often.
package throttle

import "time"

// Throttle says when something is due again, at most once in a pause. One goroutine at a time may use it.
type Throttle struct {
	pause time.Duration
	last  time.Time
}

// Every returns a throttle with that pause, for something that is due at once.
func Every(pause time.Duration) *Throttle { return &Throttle{pause: pause} }

// Due reports whether the pause has passed since it last said yes, or since Restart.
func (t *Throttle) Due() bool {
	now := time.Now()
	if now.Sub(t.last) < t.pause {
		return false
	}
	t.last = now
	return true
}

// Restart lets a whole pause pass until it is due again.
func (t *Throttle) Restart() { t.last = time.Now() }
