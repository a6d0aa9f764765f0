package arrow_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
	"github.com/brimful/brimful/tokenstream/jsonl"
)

// drain returns the samples of a source, without their names, up to its error.
func drain(src tokenstream.Source) ([]tokenstream.Sample, error) {
	var list []tokenstream.Sample
	for s, err := range src {
		if err != nil {
			return list, err
		}
		s = s.Clone()
		s.Place.Name = ""
		list = append(list, s)
	}
	return list, nil
}

// original returns the samples that the files of testdata were made of.
func original(t testing.TB) []tokenstream.Sample {
	file, err := os.Open("testdata/samples.jsonl")
	require.NoError(t, err)
	defer file.Close()
	list, err := drain(jsonl.Read(file, jsonl.Options{}))
	require.NoError(t, err)
	require.Len(t, list, 30)
	return list
}

// theirs returns the files of testdata that hold all of the original samples.
func theirs(t testing.TB) map[string][]byte {
	names, err := filepath.Glob("testdata/*.arrow")
	require.NoError(t, err)
	require.Greater(t, len(names), 40)
	files := map[string][]byte{}
	for _, name := range names {
		if !strings.Contains(name, "fixed-size") {
			files[filepath.Base(name)], err = os.ReadFile(name)
			require.NoError(t, err)
		}
	}
	return files
}

// What pyarrow, pandas, Polars and datasets wrote is what package jsonl reads of the same samples, names and rows included.
func TestRead(t *testing.T) {
	want := original(t)
	for name, file := range theirs(t) {
		t.Run(name, func(t *testing.T) {
			got, err := drain(arrow.Read(bytes.NewReader(file), arrow.ReadOptions{Name: name}))
			require.NoError(t, err)
			require.Equal(t, want, got)
			got, err = drain(arrow.Read(iotest.OneByteReader(bytes.NewReader(file)), arrow.ReadOptions{Name: name}))
			require.NoError(t, err)
			require.Equal(t, want, got, "read byte by byte")
		})
	}
}

func TestReadFixedSize(t *testing.T) {
	var want []tokenstream.Sample
	for _, s := range original(t) {
		if len(s.Tokens) == 8 {
			want = append(want, s)
			want[len(want)-1].Place.Row = int64(len(want))
		}
	}
	require.NotEmpty(t, want)
	for _, form := range []string{"file", "stream"} {
		file, err := os.Open("testdata/pyarrow-fixed-size-" + form + ".arrow")
		require.NoError(t, err)
		defer file.Close()
		got, err := drain(arrow.Read(file, arrow.ReadOptions{}))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// A consumer that stops is not called again, and one that overwrites what it gets changes nothing that comes after.
func TestReadStops(t *testing.T) {
	want := original(t)
	for name, file := range theirs(t) {
		n := 0
		for s, err := range arrow.Read(bytes.NewReader(file), arrow.ReadOptions{}) {
			require.NoError(t, err)
			require.Equal(t, want[n].Tokens, s.Tokens, name)
			require.Equal(t, want[n].ID, s.ID, name)
			clear(s.Tokens)
			clear(s.Labels)
			if n++; n == 13 {
				break
			}
		}
		require.Equal(t, 13, n)
	}
}

// What a reader fails with is the error, wherever it fails.
func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	for _, name := range []string{"pyarrow-default-file.arrow", "pyarrow-dictionary-deltas-stream.arrow"} {
		file := theirs(t)[name]
		for n := range len(file) {
			_, err := drain(arrow.Read(io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(broken)), arrow.ReadOptions{Name: name}))
			require.ErrorIs(t, err, broken, "after %d bytes", n)
			var at *tokenstream.InputError
			require.ErrorAs(t, err, &at)
			require.Equal(t, name, at.Place.Name)
		}
	}
}

// Data that are cut off are an error, wherever they are cut.
func TestReadCut(t *testing.T) {
	for name, file := range theirs(t) {
		for n := 0; n < len(file); n++ {
			_, err := drain(arrow.Read(bytes.NewReader(file[:n]), arrow.ReadOptions{}))
			require.Error(t, err, "%s, after %d of %d bytes", name, n, len(file))
			if n > 100 && n < len(file)-100 {
				n += 96
			}
		}
		_, err := drain(arrow.Read(bytes.NewReader(append(bytes.Clone(file), 0)), arrow.ReadOptions{}))
		require.Error(t, err, "a byte more")
	}
}
