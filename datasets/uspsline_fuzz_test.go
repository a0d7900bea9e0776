package datasets

import "testing"

// A line, below the decompressor, is a digit with all its pixels or an error.
func FuzzParseUSPSLine(f *testing.F) {
	for _, line := range []string{"1 1:-1 2:0.5 256:1", "10", "", "2 1:0 1:0", "3 257:0", "4 1:1e-3 2:0x1p-2 3:-0", "5 1:nan", "6\t1:1 \r"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		// What a line leaves out is grey, whatever the line before it had there.
		first, second := make([]byte, uspsSide*uspsSide), make([]byte, uspsSide*uspsSide)
		for i := range second {
			second[i] = 7
		}
		digit, err := parseUSPSLine(first, line)
		again, errAgain := parseUSPSLine(second, line)
		if (err == nil) != (errAgain == nil) || digit != again {
			t.Errorf("%q is %d, %v, then %d, %v", line, digit, err, again, errAgain)
		}
		if err == nil && (digit < 0 || digit > 9 || string(first) != string(second)) {
			t.Errorf("%q is %d with other pixels", line, digit)
		}
	})
}
