package dataset

import (
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"strings"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
	"github.com/brimful/brimful/tokenstream/parquet"
)

// format is one way to store a shard.
type format struct {
	name string
	ext  string
	hf   bool // the directory is one of datasets.save_to_disk
	sink func(w io.Writer, l tokenstream.Layout, metadata map[string]string) (tokenstream.Sink, error)
}

var formats = []format{
	{"parquet", ".parquet", false, func(w io.Writer, l tokenstream.Layout, metadata map[string]string) (tokenstream.Sink, error) {
		o := parquet.Options{Metadata: metadata, RowGroupRows: l.RowGroupRows}
		if o.RowGroupRows > 0 { // of a layout whose reader goes from group to group
			o.RowGroupBytes = 4 << 20
		}
		return parquet.NewWriter(w, l, o)
	}},
	{"arrow", ".arrow", false, func(w io.Writer, l tokenstream.Layout, metadata map[string]string) (tokenstream.Sink, error) {
		return arrow.NewWriter(w, l, arrow.Options{Metadata: metadata})
	}},
	{"hf", ".arrow", true, func(w io.Writer, l tokenstream.Layout, metadata map[string]string) (tokenstream.Sink, error) {
		return arrow.NewWriter(w, l, arrow.Options{Form: arrow.Stream, Metadata: metadata})
	}},
}

// Formats returns the names of the formats: "parquet", "arrow" (IPC files) and "hf" (the folder of datasets.save_to_disk).
func Formats() []string {
	var s []string
	for _, f := range formats {
		s = append(s, f.name)
	}
	return s
}

// format returns the format that o names.
func (o *Options) format() (format, error) {
	for _, f := range formats {
		if f.name == o.Format {
			return f, nil
		}
	}
	return format{}, fmt.Errorf("format %q: want one of %s", o.Format, strings.Join(Formats(), ", "))
}

// shardTokens is about how many tokens a shard of default size holds. A shard is kept in memory while it is encoded.
const shardTokens = 8 << 20

// setDefaults checks o and fills in what was left to the defaults.
func (o *Options) setDefaults() error {
	if o.Layout.Name == "" && len(o.Layout.Columns) == 0 {
		o.Layout = tokenstream.HF
	}
	if o.Format == "" {
		o.Format = "parquet"
	}
	if _, err := o.format(); err != nil {
		return err
	}
	if o.ShardRows < 0 || o.ShardRows > math.MaxInt32 {
		return fmt.Errorf("shard rows %d: want 0..%d", o.ShardRows, math.MaxInt32)
	}
	if o.Workers < 0 {
		return fmt.Errorf("workers %d: want 0 or more", o.Workers)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return nil
}

// job returns whatever the bytes of the data set depend on.
func (o *Options) job() Job {
	job := Job{}
	maps.Copy(job, o.Job)
	job["format"], job["layout"], job["shard_rows"] = o.Format, o.Layout, o.ShardRows
	return job
}
