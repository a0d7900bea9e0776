//go:build !linux

package wholefile

import "errors"

// exchange is what only Linux can.
func exchange(string, string) error { return errors.ErrUnsupported }
