package torch

// #cgo CFLAGS: -I${SRCDIR}/csrc
// #include "iwtorch.h"
import "C"

import (
	"fmt"
	"strings"
)

// Error is the panic value of an operation that libtorch or this package refused.
type Error struct {
	Op  string // the operation, "MatMul"
	Msg string // why it was refused
}

func (e *Error) Error() string { return fmt.Sprintf("torch: %s: %s", e.Op, e.Msg) }

// Try runs f and returns the [*Error] with which it panicked, nil if it did not.
// Other panics pass.
func Try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// check panics with an *Error if the shim returned a message.
func check(op string, message *C.char) {
	if message == nil {
		return
	}
	text := strings.TrimSpace(C.GoString(message))
	C.iwt_free(message)
	panic(&Error{Op: op, Msg: text})
}

func refuse(op, format string, args ...any) {
	panic(&Error{Op: op, Msg: fmt.Sprintf(format, args...)})
}
