package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ID names a run within its experiment. Its text is the path of the run's folder
// below that of the experiment: subsampled/usps-mnist/iwdan/seed-1. A task is
// <source>-<target>.
type ID struct {
	Variant string
	Task    string
	Method  string
	Seed    int64
}

// String returns the ID in the form of IDForm.
func (id ID) String() string {
	return fmt.Sprintf("%s/%s/%s/%s%d", id.Variant, id.Task, id.Method, seedPrefix, id.Seed)
}

// IDForm is the form of an ID's text.
const IDForm = "variant/task/method/seed-n"

const seedPrefix = "seed-"

// ParseID is the inverse of ID.String. It does not check that there is such a
// variant, task or method.
func ParseID(text string) (ID, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 4 || slices.Contains(parts, "") {
		return ID{}, fmt.Errorf("run id %q: it must have the form %s", text, IDForm)
	}
	id := ID{Variant: parts[0], Task: parts[1], Method: parts[2]}
	seed, err := strconv.ParseInt(strings.TrimPrefix(parts[3], seedPrefix), 10, 64)
	id.Seed = seed
	if err != nil || id.String() != text {
		return ID{}, fmt.Errorf("run id %q: its last part must be seed-n with a whole number n, not %q", text, parts[3])
	}
	return id, nil
}
