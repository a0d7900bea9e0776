package checkpoint

import (
	"encoding/binary"
	"errors"
	"testing"

	"iwda/internal/allocation"
)

// The head of a checkpoint of any content is a record, or damaged, or of another format.
func FuzzReadRecord(f *testing.F) {
	_, whole := written(f, Record{Version: "1", Config: "a: b"})
	f.Add(whole)
	f.Add(binary.LittleEndian.AppendUint64(nil, 100<<20))
	f.Fuzz(func(t *testing.T, content []byte) {
		allocation.Reading(t, len(content), func() {
			_, err := readRecord("f", content)
			var damaged *DamagedError
			var other *FormatError
			if err != nil && !errors.As(err, &damaged) && !errors.As(err, &other) {
				t.Errorf("error %v", err)
			}
		})
	})
}
