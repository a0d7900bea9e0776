package config

import (
	"fmt"
	"strings"
)

// Error is one mistake in a configuration.
type Error struct {
	Location string // file:line:column, or the assignment: --set train.epochs=0
	Message  string // what is wrong there, and what would be right
}

// Error returns the location and the message.
func (e Error) Error() string { return e.Location + ": " + e.Message }

// Errors is every mistake that was found in a configuration.
type Errors []Error

// maxPrinted is the number of mistakes that Errors.Error spells out.
const maxPrinted = 10

// Error returns the first ten mistakes, one a line, and the number of the others.
func (e Errors) Error() string {
	var lines []string
	for i, mistake := range e {
		if i == maxPrinted {
			lines = append(lines, fmt.Sprintf("and %d more", len(e)-maxPrinted))
			break
		}
		lines = append(lines, mistake.Error())
	}
	return strings.Join(lines, "\n")
}

// OrNil returns e as an error, and nil where there is no mistake.
func (e Errors) OrNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}
