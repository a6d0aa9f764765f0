package parquet_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/parquet"
)

// theirs returns the samples that testdata/make.py wrote, and the files it wrote of them.
func theirs(t testing.TB) (samples []tokenstream.Sample, files map[string][]byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/samples.jsonl")
	require.NoError(t, err)
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var s struct {
			ID       string
			InputIDs []int32 `json:"input_ids"`
			Labels   []int32
		}
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		samples = append(samples, tokenstream.Sample{ID: s.ID, Tokens: s.InputIDs, Labels: s.Labels, Place: tokenstream.Place{Name: "a", Row: int64(i + 1)}})
	}
	names, err := filepath.Glob("testdata/*.parquet")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	files = map[string][]byte{}
	for _, name := range names {
		files[filepath.Base(name)], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	return samples, files
}

func equal(a, b tokenstream.Sample) bool {
	return a.ID == b.ID && slices.Equal(a.Tokens, b.Tokens) && (a.Labels == nil) == (b.Labels == nil) && slices.Equal(a.Labels, b.Labels)
}

func TestFilesOfOthers(t *testing.T) {
	samples, files := theirs(t)
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			got, err := read(file, parquet.ReadOptions{})
			require.NoError(t, err)
			if name == "fixed-size.parquet" { // the samples of eight tokens
				want := []tokenstream.Sample{}
				for _, s := range samples {
					if len(s.Tokens) == 8 {
						s.Place.Row = int64(len(want) + 1)
						want = append(want, s)
					}
				}
				require.Equal(t, want, got)
				return
			}
			require.Equal(t, samples, got)
		})
	}
}

// TestFilesOfParquetGo writes random samples by parquet-go with pages and row groups of all sizes, and reads them.
func TestFilesOfParquetGo(t *testing.T) {
	type plain struct {
		ID     string  `parquet:"id"`
		IDs    []int64 `parquet:"input_ids,list"`
		Labels []int32 `parquet:"labels,list"`
	}
	type dictionary struct {
		ID     string  `parquet:"id,dict"`
		IDs    []int64 `parquet:"input_ids,list" parquet-element:",dict"`
		Labels []int32 `parquet:"labels,list" parquet-element:",dict"`
	}
	type differences struct {
		ID     string  `parquet:"id,optional"`
		IDs    []int64 `parquet:"input_ids,list,optional" parquet-element:",delta"`
		Labels []int32 `parquet:"labels,list,optional" parquet-element:",delta"`
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var samples []tokenstream.Sample
		var rows []plain
		for i := range r.IntN(100) {
			s := tokenstream.Sample{ID: strings.Repeat("x", 1+i%4), Tokens: []int32{}, Labels: []int32{}, Place: tokenstream.Place{Name: "a", Row: int64(i + 1)}}
			row := plain{ID: s.ID}
			for range 1 + r.IntN(1+r.IntN(500)) {
				id := r.Int32N(1 << (1 + r.IntN(30)))
				s.Tokens, row.IDs = append(s.Tokens, id), append(row.IDs, int64(id))
				s.Labels = append(s.Labels, id-50)
			}
			row.Labels = s.Labels
			samples, rows = append(samples, s), append(rows, row)
		}
		o := []pq.WriterOption{pq.DataPageVersion(1 + r.IntN(2)), pq.PageBufferSize(1 << r.IntN(16)), pq.MaxRowsPerRowGroup(1 + r.Int64N(120))}
		dictionaries, deltas := make([]dictionary, len(rows)), make([]differences, len(rows))
		for i, row := range rows {
			dictionaries[i], deltas[i] = dictionary(row), differences(row)
		}
		for _, file := range [][]byte{encode(t, rows, o...), encode(t, dictionaries, o...), encode(t, deltas, o...)} {
			got, err := read(file, parquet.ReadOptions{})
			require.NoError(t, err, "seed %d", seed)
			require.Equal(t, len(samples), len(got), "seed %d", seed)
			for i := range samples {
				require.Equal(t, samples[i], got[i], "seed %d", seed)
			}
		}
	}
}

// TestOwnFiles reads what this package writes, of a layout that holds no sign of packing.
func TestOwnFiles(t *testing.T) {
	layout := tokenstream.Layout{Columns: []tokenstream.Column{{Name: "input_ids", Kind: tokenstream.Tokens}, {Name: "labels", Kind: tokenstream.Labels}}}
	batches := rows(1, 200, 5000)
	batches = append(batches, rows(2, 1, 400_000)...)
	got, err := read(write(t, layout, parquet.Options{RowGroupRows: 70}, batches...), parquet.ReadOptions{})
	require.NoError(t, err)
	require.Len(t, got, len(batches))
	for i, b := range batches {
		require.True(t, slices.Equal(b.Tokens, got[i].Tokens), "row %d", i)
		require.True(t, slices.Equal(b.Labels, got[i].Labels), "row %d", i)
	}
}

// mutate returns a damaged copy of a file.
func mutate(r *rand.Rand, file []byte) []byte {
	m := bytes.Clone(file)
	footer := len(m) - 8 - int(binary.LittleEndian.Uint32(m[len(m)-8:]))
	at := r.IntN(len(m))
	if r.IntN(2) == 0 {
		at = footer + r.IntN(len(m)-footer) // half of the damage where it does most
	}
	switch r.IntN(5) {
	case 0:
		return m[:at]
	case 1:
		m[at] ^= 1 << r.IntN(8)
	case 2:
		for i := range min(1+r.IntN(8), len(m)-at) {
			m[at+i] = []byte{0, 0xff, 0x7f, 0x80}[r.IntN(4)]
		}
	case 3:
		binary.LittleEndian.PutUint32(m[len(m)-8:], r.Uint32()>>r.IntN(32))
	case 4:
		n := min(r.IntN(64), len(m)-at)
		return append(m[:at], m[at+n:]...) // cut out
	}
	return m
}

// TestDamage reads damaged files: nothing worse than an error may come of it, and memory stays bounded.
func TestDamage(t *testing.T) {
	const times = 2000
	samples, files := theirs(t)
	files["brimful"] = write(t, tokenstream.Layout{Columns: []tokenstream.Column{{Name: "input_ids", Kind: tokenstream.Tokens}, {Name: "labels", Kind: tokenstream.Labels}}},
		parquet.Options{RowGroupRows: 20}, rows(1, 60, 100)...)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	r := rand.New(rand.NewPCG(1, 2))
	refused, same, other := 0, 0, 0
	var before, after runtime.MemStats
	for i := range times {
		name := names[i%len(names)]
		file := mutate(r, files[name])
		runtime.ReadMemStats(&before)
		start := time.Now()
		got, err := read(file, parquet.ReadOptions{})
		runtime.ReadMemStats(&after)
		require.Less(t, time.Since(start), 10*time.Second, "mutation %d", i)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20), "mutation %d of %s", i, name)
		switch {
		case err != nil:
			refused++
		case slices.EqualFunc(got, samples, equal):
			same++
		default:
			other++
		}
	}
	t.Logf("of %d damaged files %d were refused, %d still had all their samples, %d had others, without a checksum to tell", times, refused, same, other)
	require.Greater(t, refused, times/2)
}

// TestChecksums flips a bit of every second byte of the pages of files with checksums, one at a time: no sample that differs gets through.
func TestChecksums(t *testing.T) {
	layout := tokenstream.Layout{Columns: []tokenstream.Column{{Name: "input_ids", Kind: tokenstream.Tokens}, {Name: "labels", Kind: tokenstream.Labels}}}
	_, files := theirs(t)
	for name, file := range map[string][]byte{
		"brimful":      write(t, layout, parquet.Options{RowGroupRows: 20}, rows(1, 40, 30)...),
		"uncompressed": write(t, layout, parquet.Options{Compression: "none"}, rows(1, 40, 30)...),
		"pyarrow":      files["pyarrow-checksums.parquet"],
	} {
		t.Run(name, func(t *testing.T) {
			want, err := read(file, parquet.ReadOptions{})
			require.NoError(t, err)
			end := len(file) - 8 - int(binary.LittleEndian.Uint32(file[len(file)-8:]))
			same := 0
			for at := 0; at < end; at += 2 {
				m := bytes.Clone(file)
				m[at] ^= 1 << (at / 2 % 8)
				got, err := read(m, parquet.ReadOptions{})
				require.LessOrEqual(t, len(got), len(want))
				for i, s := range got {
					require.True(t, equal(want[i], s), "a bit of byte %d flipped: row %d", at, i)
				}
				if err == nil {
					require.Len(t, got, len(want))
					same++
				}
			}
			t.Logf("%d of %d flips did no harm", same, end/2)
		})
	}
}

func FuzzReader(f *testing.F) {
	_, files := theirs(f)
	for _, file := range files {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		n := int64(0)
		for s, err := range parquet.Read(bytes.NewReader(file), int64(len(file)), parquet.ReadOptions{MaxPageBytes: 1 << 20}) {
			if err != nil {
				return
			}
			n++
			require.Equal(t, n, s.Place.Row)
			if s.Labels != nil {
				require.Equal(t, len(s.Tokens), len(s.Labels))
			}
			for _, id := range s.Tokens {
				require.GreaterOrEqual(t, id, int32(0))
			}
			if n == 1000 {
				return
			}
		}
	})
}
