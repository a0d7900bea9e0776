package wholefile_test

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"

	"iwda/internal/wholefile"
)

// errShortWrite stands for a write that writes a half and fails; other calls fail alone.
var errShortWrite = errors.New("short write")

// faults are the errors with which calls fail.
var faults = []error{syscall.EIO, errShortWrite, syscall.ENOSPC, syscall.EACCES, syscall.EMFILE}

// eachCall calls try with disks of which the first call fails, then the second one and so on,
// until fewer calls are made than that. Every other time all later calls fail too. If the
// environment asks for all that can happen by IWDA_TORTURE, each call fails with every error, alone and with all after it.
func eachCall(try func(disk *wholefile.Disk, name string)) {
	rounds := 1
	if os.Getenv("IWDA_TORTURE") != "" {
		rounds = 2 * len(faults)
	}
	for round := range rounds {
		for n := 1; ; n++ {
			why, lasting := faults[(n+round)%len(faults)], (n+round/len(faults))%2 == 0
			disk, reached := nth(n, why, lasting)
			try(disk, fmt.Sprintf("call %d fails with %v, and all after it: %v", n, why, lasting))
			if !reached() {
				break
			}
		}
	}
}

// nth returns a disk whose nth call fails, from 1, and a function that says whether that call
// was made. Where lasting, all calls after it fail too.
func nth(n int, why error, lasting bool) (disk *wholefile.Disk, reached func() bool) {
	var calls atomic.Int64
	before := func(c *wholefile.Call) error {
		if at := int(calls.Add(1)); at < n || at > n && !lasting {
			return nil
		}
		switch {
		case !errors.Is(why, errShortWrite):
			c.Data = nil
		case c.Op == wholefile.OpWrite:
			c.Data = c.Data[:len(c.Data)/2]
		}
		return why
	}
	return &wholefile.Disk{Before: before}, func() bool { return int(calls.Load()) >= n }
}
