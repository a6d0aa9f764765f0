package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/brimful/brimful/tokenstream/source"
)

// mostFromHistogram is how many samples a histogram may count: they are laid out one by one.
const mostFromHistogram = 250_000_000

// inputLengths returns the lengths of the samples of inputs, in their order.
func inputLengths(ctx context.Context, inputs []string, stdin io.Reader) ([]int32, error) {
	files, err := source.Open(inputs, source.Options{Stdin: stdin})
	if err != nil {
		return nil, err
	}
	var lengths []int32
	for s, err := range files.Samples() {
		if err != nil {
			return nil, err
		}
		if lengths = append(lengths, int32(len(s.Tokens))); len(lengths)%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return lengths, nil
}

// listedLengths returns the lengths that a file lists.
func listedLengths(ctx context.Context, path string, stdin io.Reader) ([]int32, error) {
	var lengths []int32
	err := eachNumber(ctx, path, stdin, false, func(n int64) error {
		if n > math.MaxInt32 {
			return fmt.Errorf("length %d: want 0 to %d", n, math.MaxInt32)
		}
		lengths = append(lengths, int32(n))
		return nil
	})
	return lengths, err
}

// histogramLengths returns the lengths that a file counts. A histogram has no order: it is drawn by the seed.
func histogramLengths(ctx context.Context, path string, stdin io.Reader, seed uint64) ([]int32, error) {
	var counts []int64
	sum := int64(0)
	err := eachNumber(ctx, path, stdin, true, func(n int64) error {
		if sum += min(n, mostFromHistogram+1); sum > mostFromHistogram {
			return fmt.Errorf("count %d of length %d: more than %d samples in all", n, len(counts)+1, mostFromHistogram)
		}
		counts = append(counts, n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	lengths := make([]int32, 0, sum)
	for i, n := range counts {
		lengths = append(lengths, slices.Repeat([]int32{int32(i + 1)}, int(n))...)
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(lengths), func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
	return lengths, nil
}

// eachNumber calls f with the integers of a text file, from 0 on: one a line or, if many, also several, with spaces or commas between
// them. Blank lines are skipped, and so is what follows a #. The text may be plain, gzip or zstd. An error names the line.
func eachNumber(ctx context.Context, path string, stdin io.Reader, many bool, f func(int64) error) error {
	name := path
	r := stdin
	if path == "-" {
		name = "stdin"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		r = file
	}
	r, closeReader, err := decompress(bufio.NewReaderSize(r, 1<<18))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer closeReader()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	number, found := 0, 0
	for lines.Scan() {
		number++
		if number%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, _, _ := bytes.Cut(lines.Bytes(), []byte("#"))
		fields := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || many && r == ',' })
		if !many && len(fields) > 1 {
			return fmt.Errorf("%s:%d: %.40q: want one length a line (--histogram reads counts, several a line)", name, number, line)
		}
		for _, field := range fields {
			n, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil || n < 0 {
				return fmt.Errorf("%s:%d: %.40q: want an integer from 0 on", name, number, field)
			}
			if err := f(n); err != nil {
				return fmt.Errorf("%s:%d: %w", name, number, err)
			}
			found++
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("the line is longer than 16 MiB")
		}
		return fmt.Errorf("%s:%d: %w", name, number+1, err)
	}
	if found == 0 {
		return fmt.Errorf("%s: no number in it", name)
	}
	return nil
}

// decompress returns the text of r, which may be gzip or zstd.
func decompress(r *bufio.Reader) (io.Reader, func(), error) {
	head, _ := r.Peek(4) // an error shows again when r is read
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, err
		}
		return z, func() { z.Close() }, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return r, func() {}, nil
}
