package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// checker is the state of one run of [Dir].
type checker struct {
	dir      string
	m        *manifest // nil if there is none
	r        *Report
	shard    shard // what was counted in the shard at hand
	maxInRow int64 // of the split at hand
	found    map[int64]digest
	scratch  []byte
}

// run checks all shards.
func (c *checker) run(ctx context.Context) error {
	if c.m == nil {
		files, err := c.shardFiles()
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("%s: neither %s nor a shard is in it", c.dir, manifestName)
		}
		for _, f := range files {
			c.file(ctx, f)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		c.r.Samples = int64(len(c.found))
		return nil
	}
	listed := map[string]bool{}
	for _, split := range c.m.Splits {
		var sum shard
		segments, supervised, samples := c.r.Segments, c.r.Supervised, len(c.found)
		c.maxInRow = 0
		for _, s := range split.Shards {
			listed[s.Path] = true
			if !c.intact(s) {
				continue
			}
			c.shard = shard{}
			c.file(ctx, s.Path)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.equal("counts", s.Path, map[string][2]int64{"rows": {s.Rows, c.shard.Rows}, "tokens": {s.Tokens, c.shard.Tokens}, "slots": {s.Slots, c.shard.Slots}})
			sum.Rows += c.shard.Rows
			sum.Tokens += c.shard.Tokens
			sum.Slots += c.shard.Slots
		}
		name := manifestName + " split " + split.Name
		c.equal("counts", name, map[string][2]int64{"rows": {split.Rows, sum.Rows}, "tokens": {split.Tokens, sum.Tokens}, "slots": {split.Slots, sum.Slots}})
		if split.Stats == nil {
			continue
		}
		st := split.Stats
		c.equal("counts", name, map[string][2]int64{
			"stats.rows": {st.Rows, sum.Rows}, "stats.placed": {st.Placed, sum.Tokens}, "stats.slots": {st.Slots, sum.Slots},
			"stats.segments": {st.Segments, c.r.Segments - segments}, "stats.max_in_row": {st.MaxInRow, c.maxInRow},
			"ledger.out.tokens": {st.Ledger.Out.Tokens, sum.Tokens}, "ledger.out.supervised": {st.Ledger.Out.Supervised, c.r.Supervised - supervised},
			"ledger.out.samples": {st.Ledger.Out.Samples, int64(len(c.found) - samples)},
		})
		if st.LowerBound > sum.Rows {
			c.r.add("counts", name, -1, -1, "lower bound %d above %d rows", st.LowerBound, sum.Rows)
		}
		c.balance(name, st)
	}
	files, err := c.shardFiles()
	if err != nil {
		return err
	}
	for _, f := range files {
		if !listed[f] {
			c.r.add("extra_file", f, -1, -1, "the manifest does not name it")
		}
	}
	c.r.Samples = int64(len(c.found))
	return nil
}

// equal reports counts that the manifest has wrong, in the order of their names.
func (c *checker) equal(reason, file string, pairs map[string][2]int64) {
	var names []string
	for name, p := range pairs {
		if p[0] != p[1] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		c.r.add(reason, file, -1, -1, "%s is %d: %d were counted", name, pairs[name][0], pairs[name][1])
	}
}

// balance checks that a ledger adds up.
func (c *checker) balance(name string, st *stats) {
	sum := st.Ledger.Out
	for _, r := range st.Ledger.Removed {
		sum = sum.plus(count{r.Samples, r.Tokens, r.Supervised})
	}
	if sum != st.Ledger.In {
		c.r.add("ledger", name, -1, -1, "out and removed add up to %v: in is %v", sum, st.Ledger.In)
	}
	var in, out count
	for _, f := range st.Ledger.Files {
		in, out = in.plus(f.In), out.plus(f.Out)
	}
	if in != st.Ledger.In || out != st.Ledger.Out {
		c.r.add("ledger", name, -1, -1, "the files add up to in %v and out %v: want %v and %v", in, out, st.Ledger.In, st.Ledger.Out)
	}
}

// shardFiles returns every file where shards are, below the directory.
func (c *checker) shardFiles() ([]string, error) {
	var files []string
	err := filepath.WalkDir(c.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(c.dir, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasPrefix(name, "data/") || strings.HasSuffix(name, ".arrow") || strings.HasSuffix(name, ".parquet") {
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// intact checks a shard's file against the manifest. One that is not what was written is not read.
func (c *checker) intact(s shard) bool {
	if !filepath.IsLocal(filepath.FromSlash(s.Path)) {
		c.r.add("manifest", manifestName, -1, -1, "shard %q is not below the directory", s.Path)
		return false
	}
	file, err := os.Open(filepath.Join(c.dir, filepath.FromSlash(s.Path)))
	if err != nil {
		reason := "unreadable"
		if errors.Is(err, fs.ErrNotExist) {
			reason = "missing_shard"
		}
		c.r.add(reason, s.Path, -1, -1, "%v", err)
		return false
	}
	defer file.Close()
	h := sha256.New()
	n, err := io.Copy(h, file)
	sum := hex.EncodeToString(h.Sum(nil))
	switch {
	case err != nil:
		c.r.add("unreadable", s.Path, -1, -1, "%v", err)
	case n != s.Size:
		c.r.add("checksum", s.Path, -1, -1, "%d bytes: want %d", n, s.Size)
	case sum != s.SHA256:
		c.r.add("checksum", s.Path, -1, -1, "sha256 %s: want %s", sum, s.SHA256)
	default:
		return true
	}
	return false
}

// errStop ends the decoding of a file in which nothing can be checked.
var errStop = errors.New("stop")

// file checks the rows of a file.
func (c *checker) file(ctx context.Context, name string) {
	c.r.Shards++
	want := plain
	if c.m != nil {
		want = c.m.Columns
	}
	var at []int // where the wanted columns are in the file; -1 if they are not
	number := int64(0)
	begin := func(have []column) error {
		for _, w := range want {
			k := slices.IndexFunc(have, func(h column) bool { return h.Name == w.Name })
			at = append(at, k)
			switch {
			case k >= 0 && have[k].Type != w.Type:
				c.r.add("columns", name, -1, -1, "%s holds %s: want %s", w.Name, have[k].Type, w.Type)
			case k < 0 && c.m != nil:
				c.r.add("columns", name, -1, -1, "no column %s", w.Name)
			}
			if k < 0 && w.Kind == "tokens" {
				c.r.add("columns", name, -1, -1, "no column %s, without which nothing can be checked", w.Name)
				return errStop
			}
		}
		for _, h := range have {
			if h.Name == "attention_mask" || c.m != nil && !slices.ContainsFunc(want, func(w column) bool { return w.Name == h.Name }) {
				c.r.add("columns", name, -1, -1, "a column %s that should not be there%s", h.Name,
					map[bool]string{true: ": beside position_ids it makes models ignore the boundaries"}[h.Name == "attention_mask"])
			}
		}
		return nil
	}
	each := func(values [][]int64) error {
		if number%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var w row
		for i, k := range at {
			switch {
			case k < 0:
				continue
			case values[k] == nil:
				c.r.add("null", name, number, -1, "column %s", want[i].Name)
				number++
				c.r.Rows++
				c.shard.Rows++
				return nil
			case single(want[i].Kind) && len(values[k]) != 1:
				c.r.add("columns", name, number, -1, "column %s holds %d values: want 1", want[i].Name, len(values[k]))
				continue
			}
			w.set(want[i].Kind, values[k])
		}
		c.row(name, number, &w)
		number++
		return nil
	}
	err := decode(filepath.Join(c.dir, filepath.FromSlash(name)), begin, each)
	if err != nil && !errors.Is(err, errStop) && ctx.Err() == nil {
		c.r.add("unreadable", name, number, -1, "%v", err)
	}
}

// single reports whether a column of this kind holds one number a row.
func single(kind string) bool { return kind == "max_seqlen" || kind == "pad_length" }
