package faultydisk

import (
	"bytes"
	"fmt"
	"iter"
	"os"
)

// Damaged gives, for one byte in so many of a file's content, what it is with a bit of that byte
// flipped, another one from byte to byte, with the byte zeroed, and cut off before it; if the
// environment asks for [Everything], with each bit of every byte flipped. Contents are valid until the
// next one.
func Damaged(whole []byte, step int) iter.Seq2[string, []byte] {
	bits := 1
	if os.Getenv(Everything) != "" {
		bits, step = 8, 1
	}
	return func(yield func(how string, damaged []byte) bool) {
		damaged := bytes.Clone(whole)
		for at := 0; at < len(whole); at += step {
			for bit := range bits {
				bit = (at/step + bit) % 8
				damaged[at] = whole[at] ^ 1<<bit
				if !yield(fmt.Sprintf("byte %d, bit %d flipped", at, bit), damaged) {
					return
				}
			}
			damaged[at] = 0
			if whole[at] != 0 && !yield(fmt.Sprintf("byte %d zeroed", at), damaged) {
				return
			}
			damaged[at] = whole[at]
			if !yield(fmt.Sprintf("cut before byte %d", at), damaged[:at]) {
				return
			}
		}
	}
}
