package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// unpacker unpacks pages in memory for what their headers say and no more: parquet-go's codecs
// take what the data ask for.
type unpacker struct{ zstd *zstd.Decoder }

var errSize = errors.New("does not unpack to the bytes that its header says")

// unpack appends the content of packed bytes, which must be so many, to what has room for them.
func (u *unpacker) unpack(to, packed []byte, codec format.CompressionCodec, size int) ([]byte, error) {
	content := to[len(to) : len(to)+size]
	n, err := u.fill(content, packed, codec)
	if err == nil && n != size {
		err = errSize
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w", codec, err)
	}
	return to[:len(to)+size], nil
}

// fill unpacks into the memory of to, and returns how many bytes there are. One that does not fit
// is an error, or one more than there is room for.
func (u *unpacker) fill(to, packed []byte, codec format.CompressionCodec) (int, error) {
	if len(packed) == 0 { // of an empty page
		codec = format.Uncompressed
	}
	switch codec {
	case format.Uncompressed:
		return max(copy(to, packed), len(packed)), nil
	case format.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || n != len(to) {
			return n, err
		}
		content, err := snappy.Decode(to, packed)
		return len(content), err
	case format.Lz4Raw:
		return lz4.UncompressBlock(packed, to)
	case format.Zstd:
		if u.zstd == nil {
			decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
			if err != nil {
				return 0, err
			}
			u.zstd = decoder
		}
		content, err := u.zstd.DecodeAll(packed, to[:0:len(to)])
		return len(content), err
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return 0, err
		}
		return fillFrom(r, to)
	case format.Brotli:
		return fillFrom(brotli.NewReader(bytes.NewReader(packed)), to)
	}
	return 0, errors.New("a compression that is not read")
}

// fillFrom is fill from a reader.
func fillFrom(r io.Reader, to []byte) (int, error) {
	if n, err := io.ReadFull(r, to); err != nil {
		return n, err
	}
	switch _, err := io.ReadFull(r, make([]byte, 1)); err {
	case io.EOF:
		return len(to), nil
	case nil:
		return len(to) + 1, nil
	default:
		return 0, err
	}
}
