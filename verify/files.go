package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// checker is the state of one run of [Dir].
type checker struct {
	faults
	dir      string
	m        *manifest // nil if there is none
	r        *Report
	columns  []column // that a file has to have, or, without a manifest, may have
	rules    rules
	content  bool // the digests of the shards' content can be computed: no segment begins inside its sample
	register *register
	mixture  *mixture  // nil if it is none
	held     *register // of a mixture, for the samples that are held out
	seeds    [2]maphash.Seed
	shards   []string // that can be read, for a second look
	format   string
	wanted   []*wanted // samples whose places are looked for in the end
	kept     int       // tokens in them
}

// rows checks all shards.
func (c *checker) rows(ctx context.Context) error {
	files, err := c.files()
	if err != nil {
		return err
	}
	splits := []split{{}}
	if c.m != nil {
		splits = c.m.Splits
		c.listed(files)
	} else {
		if files, err = c.unlisted(files); err != nil {
			return err
		}
		for _, f := range files {
			splits[0].Shards = append(splits[0].Shards, shard{Path: f})
		}
	}
	for i := range splits {
		if err := c.split(ctx, &splits[i]); err != nil {
			return err
		}
	}
	c.r.Samples = c.register.n
	if c.mixture != nil {
		c.r.Samples += c.held.n
		c.mixed()
	} else {
		c.twice()
	}
	return nil
}

// split checks the shards of a split, and its counts.
func (c *checker) split(ctx context.Context, s *split) error {
	register := c.registerOf(s)
	samples := register.n
	checked := make([]*shardChecker, len(s.Shards))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range s.Shards {
		g.Go(func() (err error) {
			checked[i], err = c.shard(ctx, &s.Shards[i], register)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	sum := &shardChecker{}
	whole := true
	for _, n := range checked {
		c.faults.join(&n.faults)
		sum.Rows += n.Rows
		sum.Tokens += n.Tokens
		sum.Slots += n.Slots
		sum.segments += n.segments
		sum.supervised += n.supervised
		sum.alignPad += n.alignPad
		sum.maxInRow = max(sum.maxInRow, n.maxInRow)
		sum.anyPad = sum.anyPad || n.anyPad
		whole = whole && n.whole
		if n.opened {
			c.r.Shards++
			c.shards = append(c.shards, n.file)
		}
		sum.longest = max(sum.longest, n.longest)
		if sum.shortest == 0 || n.shortest > 0 && n.shortest < sum.shortest {
			sum.shortest, sum.file = n.shortest, n.file
		}
	}
	c.r.Rows += sum.Rows
	c.r.Tokens += sum.Tokens
	c.r.Slots += sum.Slots
	c.r.Segments += sum.segments
	c.r.Supervised += sum.supervised
	if c.m == nil {
		if sum.anyPad && sum.shortest < sum.longest {
			c.add("row_length", sum.file, "a row of %d tokens: want %d like the longest, since rows are padded", sum.shortest, sum.longest)
		}
		return nil
	}
	if whole { // else it is clear that the counts are others
		c.counts(s, sum, register.n-samples)
	}
	return nil
}

// registerOf returns where the samples in a split are noted.
func (c *checker) registerOf(s *split) *register {
	if c.mixture != nil && s != &c.m.Splits[0] {
		return c.held
	}
	return c.register
}

// shardChecker is the state of the check of one shard.
type shardChecker struct {
	faults
	shard  // what was counted
	file   string
	number int64 // of the row at hand
	opened bool
	whole  bool // all rows were read

	segments, supervised int64
	maxInRow             int64
	anyPad               bool
	shortest, longest    int64 // rows

	rules    *rules
	register *register
	hash     hasher
	digest   *contentDigest // nil if it is not to be compared

	alignPad int64   // tokens of padding that align segments
	true     []int64 // see row.lengths

	notes               []note
	cu, want, unshifted []int64
}

// bad adds a fault of the row at hand.
func (c *shardChecker) bad(reason string, index int, format string, args ...any) {
	f := Fault{Reason: reason, File: c.file, Row: c.number, Index: int64(index)}
	if len(c.list) < c.most {
		f.Text = fmt.Sprintf(format, args...)
	}
	c.put(f)
}

// shard checks a shard. The error is that of the system, or of ctx.
func (c *checker) shard(ctx context.Context, s *shard, register *register) (*shardChecker, error) {
	n := &shardChecker{faults: newFaults(c.most), file: s.Path, rules: &c.rules, register: register, hash: hasher{seeds: c.seeds}}
	name := filepath.Join(c.dir, filepath.FromSlash(s.Path))
	if !filepath.IsLocal(filepath.FromSlash(s.Path)) || path.Clean(s.Path) != s.Path {
		n.add("manifest", manifestName, "shard %q is not below the directory", s.Path)
		return n, nil
	}
	switch info, err := os.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		n.add("missing_shard", s.Path, "it is not there")
		return n, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		n.add("unreadable", s.Path, "no regular file")
		return n, nil
	}
	if c.m != nil {
		size, sum, err := hashFile(ctx, name)
		switch {
		case err != nil:
			return nil, err
		case size != s.Size:
			n.add("checksum", s.Path, "%d bytes: want %d", size, s.Size)
		case sum != s.SHA256:
			n.add("checksum", s.Path, "sha256 %s: want %s", sum, s.SHA256)
		}
		if c.content {
			n.digest = newContentDigest()
		}
	}
	n.opened = true
	err := c.read(ctx, s.Path, func(have []column) error {
		return c.checkColumns(&n.faults, s.Path, have)
	}, func(number int64, w *row, null string) error {
		n.number = number
		if null != "" {
			n.Rows++
			n.digest = nil
			n.bad("null", -1, "column %s", null)
			return nil
		}
		n.row(w)
		if n.digest != nil && !n.digest.add(w) {
			n.digest = nil
		}
		if l := int64(w.n); l > 0 {
			n.longest = max(n.longest, l)
			if n.shortest == 0 || l < n.shortest {
				n.shortest = l
			}
		}
		return nil
	})
	switch failed := (systemError{}); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &failed):
		return nil, failed.error
	case errors.Is(err, errColumns):
	case err != nil:
		n.put(Fault{"unreadable", s.Path, n.Rows, -1, err.Error()})
	default:
		n.whole = true
		if c.m != nil {
			n.equal("counts", s.Path, []figure{{"rows", s.Rows, n.Rows}, {"tokens", s.Tokens, n.Tokens}, {"slots", s.Slots, n.Slots}})
			if n.digest != nil && n.digest.sum() != s.Content {
				n.add("content", s.Path, "the sha256 of the rows is %s: want %s", n.digest.sum(), s.Content)
			}
		}
	}
	n.notes, n.cu, n.true, n.want, n.unshifted, n.hash.b, n.digest = nil, nil, nil, nil, nil, nil, nil
	return n, nil
}

// hashFile returns the size and the sha256 of a file.
func hashFile(ctx context.Context, name string) (int64, string, error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	h := sha256.New()
	n := int64(0)
	for {
		k, err := io.CopyN(h, file, 16<<20)
		n += k
		switch {
		case err == io.EOF:
			return n, hex.EncodeToString(h.Sum(nil)), nil
		case err != nil:
			return 0, "", err
		case ctx.Err() != nil:
			return 0, "", ctx.Err()
		}
	}
}

// errColumns ends the reading of a file in which nothing can be checked.
var errColumns = errors.New("no ids")

// checkColumns compares the columns of a file with those that it has to have.
func (c *checker) checkColumns(f *faults, name string, have []column) error {
	tokens := false
	for _, w := range c.columns {
		k := slices.IndexFunc(have, func(h column) bool { return h.Name == w.Name })
		if k < 0 {
			if c.m != nil {
				f.add("columns", name, "no column %s", w.Name)
			}
			continue
		}
		kind := kindOf(w.Kind)
		if have[k].Type != w.Type || kind >= 0 && have[k].list == kinds[kind].single {
			f.add("columns", name, "%s holds %s: want %s", w.Name, describe(have[k].Type, have[k].list), describe(w.Type, kind >= 0 && !kinds[kind].single))
		}
		tokens = tokens || w.Kind == kinds[0].name && have[k].usable
	}
	for i, h := range have {
		switch {
		case slices.ContainsFunc(have[:i], func(o column) bool { return o.Name == h.Name }):
			f.add("columns", name, "two columns %s", h.Name)
		case slices.ContainsFunc(c.columns, func(w column) bool { return w.Name == h.Name }):
		case h.Name == "attention_mask":
			f.add("columns", name, "a column %s: beside position_ids it makes models ignore the boundaries", h.Name)
		case c.m != nil:
			f.add("columns", name, "a column %s that should not be there", h.Name)
		}
	}
	if !tokens {
		f.add("columns", name, "no column with the ids, without which nothing can be checked")
		return errColumns
	}
	return nil
}

func describe(name string, list bool) string {
	if list {
		return "lists of " + name
	}
	return name
}

// read goes through the rows of a file. It calls begin with the columns and each with every row, or with the name of a column that is
// null in it.
func (c *checker) read(ctx context.Context, name string, begin func([]column) error, each func(number int64, w *row, null string) error) error {
	format := c.format
	if format == "" {
		format = formatOf(name)
	}
	var at [numKinds]int // where the columns of each kind are in the file, or -1
	var names [numKinds]string
	number := int64(-1)
	var w row
	return decode(decoders[format], filepath.Join(c.dir, filepath.FromSlash(name)), func(have []column) error {
		for k := range kinds {
			at[k] = -1
		}
		for i, h := range have {
			for _, want := range c.columns {
				k := kindOf(want.Kind)
				if c.m == nil && k == cuSeqlens && h.Name == plainCuSeqlens && slices.ContainsFunc(have, func(o column) bool { return o.Name == plainPadded }) {
					k = trueCuSeqlens
				}
				if k >= 0 && want.Name == h.Name && h.usable && h.list != kinds[k].single {
					at[k], names[k] = i, h.Name
				}
			}
		}
		return begin(have)
	}, func(values [][]int64) error {
		number++
		if number%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		w = row{}
		for k, i := range at {
			if i < 0 {
				continue
			}
			if values[i] == nil {
				return each(number, nil, names[k])
			}
			w.columns[k] = values[i]
		}
		return each(number, &w, "")
	})
}
